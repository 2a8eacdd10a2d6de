//! What has happened -> what to do next. Pure: no I/O, no clock, no randomness; those arrive as values.
//!
//! Four floors, each of which knows only those below it:
//! * `mode`: what each mode remembers of a task's records, what it wants next, and what it asks of the model;
//! * `state`: [`History::fold`] builds a conversation's state from its records, and nothing else changes it;
//! * `decide`: [`accept`] turns an [`Input`] (a command or an outcome) into records, or refuses it;
//!   [`advance`] asks a task's mode what comes next, again and again until the task waits; [`effects`] says
//!   what should be under way now: model calls and tool calls, each with its attempt, a checkpoint, an undo;
//! * `driver`: [`driver::Driver`] decides all that a conversation's actor does around that, as orders to
//!   whoever has the disk and the models.
//!
//! Recovery is the same path: load, fold, accept [`Input::Interrupted`], advance.

mod decide;
pub mod driver;
mod mint;
mod mode;
mod state;

pub use abide_protocol::checkpoint::{Ran, Window};
pub use abide_protocol::record::EditState;
pub use decide::{
    accept::accept,
    advance::{advance, handle, needs_daemon},
    children::result_of,
    command::{Command, Intervention, Start, StartBeneath},
    compaction,
    effect::Effect,
    effects::{effects, wake_at},
    files::works_on_files,
    import::{ImportError, import},
    input::{Finding, Fork, Input, ModelFailure, OwnPlace, Refusal, Replied, Traces},
    recalled::recalled,
    shown::Shown,
    view::{Projection, project, view},
};
pub use mint::Mint;
pub use mode::{
    block_filter::BlockFilter,
    control,
    plan::{AgentPlan, PlannedCall},
    prompt,
    reading::Reading,
    task_mode::{control_tools, declares_tools, default_steps, has_tools, recalls},
    turn::Turn,
};
pub use state::{
    history::{CheckpointBefore, Conversation, First, History},
    manifest::Manifest,
    scratchpad::{LINES as SCRATCHPAD_LINES, scratchpad},
    snapshot::{HistorySnapshot, Tail, UnreadableHistorySnapshot},
    status::{is_at_work, status},
    task::{Call, CallStage, Origin, Stage, Task},
    trail::{NoTrail, Trail},
};
