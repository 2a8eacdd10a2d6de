//! The window: a native chat with the agents that the daemon runs. The only place that knows iced.
//!
//! * [`app`]: what is open, and where a message goes
//! * [`daemon`]: the two subscriptions, and requests
//! * [`screen`]: conversation list, conversation, inbox, key map; each owns what it shows
//! * [`local_state`]: what this window remembers on its own: drafts, scale, theme
//! * [`guard`]: what a key or a click may do now that cannot be undone
//! * [`output`]: what a program wrote, as a terminal would leave it standing
//! * [`rendered`]: Markdown as it is read, its words without its marks
//! * [`desktop`]: shows a text in the person's editor
//! * [`picker`]: the desktop's dialog for files
//! * [`undo`]: what was written in a field before
//! * [`keymap`], [`attention`], [`appearance`], [`words`], [`clock`]: small things with one purpose each
//! * [`frame`]: what a frame costs, for who wants to know
//! * [`syntax`], [`ansi`]: colours of code, and those that programs write
//! * [`theme`], [`font`], [`widget`]: the look; no colour and no size is anywhere else
//!
//! Invariants: the window holds no truth. Everything shown comes from `abide-client`'s fold, everything done is a request to the
//! daemon; killed at any moment, it loses nothing but the last keystrokes of a draft.

pub mod ansi;
pub mod app;
pub mod appearance;
pub mod attention;
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
pub mod undo;
pub mod widget;
pub mod words;

pub use app::{App, Message};
pub use start::{main, settings};
