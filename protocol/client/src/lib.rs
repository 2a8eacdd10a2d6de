//! What every client of the daemon needs: start it, connect, and keep a view of its state.
//!
//! * [`Client`]: one connection, shared by many callers; [`autostart`] starts the daemon
//! * [`Live`]: a subscription that survives cut connections and restarts, with no gap and no repeat
//! * [`view`]: the pure fold from [`Live`]'s updates to what a person sees
//! * [`choice`]: which of a question's choices a typed answer means
//! * [`provider`]: a provider of models that a person sets up
//!
//! Invariants: every channel is bounded; dropping the last handle of a [`Client`] or a [`Live`] ends its
//! tasks and its connection; [`view`] does no I/O and reads no clock.

pub use abide_protocol as protocol;

mod approval;
pub mod autostart;
mod choice;
mod client;
mod connect;
mod connector;
mod live;
mod options;
pub mod provider;
mod request_id;
mod sandbox;
pub mod view;

pub use abide_protocol::comment::{as_comment, comment};
pub use approval::{condition, is_made_by_daemon, is_quoted};
pub use autostart::connect_or_start;
pub use choice::choice;
pub use client::{CallError, Client, Disconnect, Notifications};
pub use connect::ConnectError;
pub use connector::{AtHome, Connector};
pub use live::{Live, LiveError, LiveOptions, Update};
pub use options::Options;
pub use request_id::request_id;
pub use sandbox::confined;
