//! What clients see, as it happens: committed records in `seq` order, then updates; deltas live.
//!
//! Nobody upstream ever waits for a client: a subscriber's queue is bounded, deltas in it merge, and whoever lets records pile up
//! is cut with a cursor.

mod hub;
mod live;
mod outbox;
mod weight;

pub use hub::{Focus, Hub, Subscriber};
pub use live::Delta;
pub use outbox::{Outbox, Parcel};

#[cfg(test)]
mod tests;
