//! The window: a native chat with the agents that the daemon runs. The only place that knows iced.
//!
//! * [`app`]: what is open, and where a message goes
//! * [`daemon`]: the two subscriptions, and requests
//! * [`screen`]: conversation list, conversation, inbox, key map; each owns what it shows
//! * [`memory`]: what this window remembers on its own: drafts, scale, theme
//! * [`guard`]: what a key or a click may do now that cannot be undone
//! * [`keymap`], [`attention`], [`appearance`], [`words`], [`clock`]: small things with one purpose each
//! * [`frame`]: what a frame costs, for who wants to know
//! * [`theme`], [`font`], [`widget`]: the look; no colour and no size is anywhere else
//!
//! Invariants: the window holds no truth. Everything shown comes from `abide-client`'s fold, everything done is a request to the
//! daemon; killed at any moment, it loses nothing but the last keystrokes of a draft.

pub mod app;
pub mod appearance;
pub mod attention;
pub mod clock;
pub mod daemon;
pub mod effect;
pub mod font;
pub mod frame;
pub mod guard;
pub mod keymap;
pub mod memory;
pub mod request;
pub mod screen;
mod start;
pub mod theme;
pub mod widget;
pub mod words;

pub use app::{App, Message};
pub use start::{main, settings};
