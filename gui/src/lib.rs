//! The window: a native chat with the agents that the daemon runs. The only place that knows iced.
//!
//! * [`arguments`]: the command line
//! * [`app`]: the state, and the dispatch of messages
//! * [`bus`]: one window for each session: a second start hands over what it was asked to show
//! * [`daemon`]: the two subscriptions, and the way of requests
//! * [`request`]: what is asked of the daemon, as data
//! * [`screen`]: conversation list, conversation, inbox, key map; each owns what it shows
//! * [`local_state`]: what this window stores itself: scale, theme, and the drafts of each window
//! * [`guard`]: whether an action that cannot be undone may happen now
//! * [`output`]: a program's output as a terminal would show it in the end
//! * [`catalog`]: what a task can be started with
//! * [`rendered`]: the text of Markdown without its marks
//! * [`desktop`]: opens a text in the person's editor
//! * [`picker`]: the desktop's dialog for files
//! * [`tray`]: the icon in the tray, a process of its own
//! * [`undo`]: earlier contents of a field
//! * [`keymap`], [`attention`], [`appearance`], [`words`], [`clock`]: small things with one purpose each
//! * [`frame`]: a trace of what frames cost
//! * [`syntax`], [`ansi`]: colours of code, and of programs' output
//! * [`theme`], [`font`], [`widget`]: the look; no colour and no size is anywhere else
//!
//! Invariants: the window holds no truth. Everything shown comes from `abide-client`'s fold, every action is
//! a request to the daemon. Killed at any moment, it loses at most the last keystrokes of a draft.

pub mod ansi;
pub mod app;
pub mod appearance;
pub mod arguments;
pub mod attention;
#[cfg(target_os = "linux")]
pub mod bus;
#[cfg(not(target_os = "linux"))]
#[path = "bus/none.rs"]
pub mod bus;
pub mod catalog;
pub mod clock;
pub mod daemon;
pub mod desktop;
pub mod effect;
mod emoji;
pub mod font;
pub mod frame;
pub mod guard;
pub mod keymap;
pub mod local_state;
pub mod output;
pub mod picker;
pub mod rendered;
pub mod request;
pub mod screen;
mod start;
pub mod syntax;
pub mod theme;
#[cfg(target_os = "linux")]
pub mod tray;
pub mod undo;
pub mod widget;
pub mod words;

pub use app::{App, Message};
pub use start::{main, settings};
