//! What has happened -> what to do next. Pure: no I/O, no clock, no randomness; those arrive as values.
//!
//! * [`History::fold`] builds a conversation's state from its records, and nothing else changes it;
//! * [`accept`] turns an [`Input`] (a command or an outcome) into records, or refuses it;
//! * [`advance`] asks a task's mode what comes next, again and again until the task waits;
//! * [`effects`] says what should be under way now: model calls and tool calls, each with its attempt, a checkpoint, an undo;
//! * [`driver::Driver`] decides all that a conversation's actor does around that, as orders to whoever has the disk and the models;
//! * [`scratchpad`] says in lines what a task has learnt.
//!
//! Recovery is the same path: load, fold, accept [`Input::Interrupted`], advance.

mod accept;
mod advance;
mod children;
mod clock;
mod command;
pub mod compaction;
pub mod control;
pub mod driver;
mod effects;
mod files;
mod history;
mod import;
mod incomplete;
mod input;
mod limits;
mod manifest;
mod mint;
mod mode;
pub mod prompt;
mod reading;
mod schedule;
mod scratchpad;
mod status;
mod task;
mod view;

pub use abide_protocol::checkpoint::{Ran, Window};
pub use abide_protocol::record::EditState;
pub use accept::accept;
pub use advance::{advance, handle, needs_daemon};
pub use children::result_of;
pub use command::Command;
pub use effects::{Effect, effects, wake_at};
pub use files::{NoTrail, Trail};
pub use history::{
    CheckpointBefore, Conversation, First, History, HistorySnapshot, Tail, UnreadableHistorySnapshot,
};
pub use import::{ImportError, import};
pub use input::{
    Finding, Fork, Input, Intervention, ModelFailure, OwnPlace, Refusal, Replied, Shown, Start, Traces,
};
pub use manifest::Manifest;
pub use mint::Mint;
pub use mode::{Turn, declares_tools, default_steps};
pub use reading::{Reading, Veil};
pub use scratchpad::{LINES as SCRATCHPAD_LINES, scratchpad};
pub use status::{is_at_work, status};
pub use task::{Call, CallStage, Stage, Task};
pub use view::{Projection, project, view};
