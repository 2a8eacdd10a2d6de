//! Notifications for clients: committed records in `seq` order, latest-wins updates, and live deltas.
//!
//! Nothing upstream waits for a client. A subscriber's queue is bounded and merges deltas; a client that lets
//! records pile up is told where to resume, and its connection is closed.

mod ends;
mod hub;
mod live;
mod outbox;
mod undos;
mod weight;

pub use ends::End;
pub use hub::{Focus, Focused, Hub, Subscriber, Viewer};
pub use live::Delta;
pub use outbox::{Outbox, Parcel};

#[cfg(test)]
mod tests;
