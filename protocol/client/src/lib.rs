//! What every client of the daemon needs: find it, start it, connect, and keep a view of its state.
//!
//! * [`home`]: where the files are; the daemon uses it too
//! * [`application`]: how the desktop names the window
//! * [`Client`]: one connection, shared by many callers; [`autostart`] starts the daemon
//! * [`Live`]: a subscription that survives cut connections and restarts, with no gap and no repeat
//! * [`view`]: the pure fold from [`Live`]'s updates to what a person sees
//! * [`fresh`]: what daemon and window do not keep of the process that starts them
//! * [`login`]: what starts the daemon at login
//! * [`environment`]: what of this process's environment its tasks get
//! * [`choice`]: which of a question's choices a typed answer means
//! * [`parked`]: until when a task is parked, in local time
//! * [`provider`]: a provider of models that a person sets up
//! * [`text`]: makes text of models and tools safe for a terminal
//!
//! Invariants: every channel is bounded; dropping the last handle of a [`Client`] or a [`Live`] ends its
//! tasks and its connection; [`view`] and [`text`] do no I/O and read no clock.

pub use abide_protocol as protocol;

#[cfg(unix)]
pub mod application;
mod approval;
pub mod autostart;
mod choice;
mod client;
mod comment;
mod connect;
mod connector;
pub mod environment;
pub mod framing;
#[cfg(unix)]
pub mod fresh;
pub mod home;
mod live;
pub mod login;
mod options;
pub mod parked;
pub mod program;
pub mod provider;
mod replace_file;
mod request_id;
mod run_within;
mod sandbox;
pub mod text;
pub mod view;

pub use approval::{condition, is_made_by_daemon, is_quoted};
pub use autostart::connect_or_start;
pub use choice::choice;
pub use client::{CallError, Client, Disconnect, Notifications};
pub use comment::{as_comment, comment};
pub use connect::ConnectError;
pub use connector::{AtHome, Connector};
pub use home::{Home, create_private_dir};
pub use live::{Live, LiveError, LiveOptions, Update};
pub use options::Options;
pub use replace_file::replace_file;
pub use request_id::request_id;
pub use sandbox::confined;
