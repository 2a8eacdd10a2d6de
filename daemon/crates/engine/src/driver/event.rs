use super::{AppendId, Host, Message};
use crate::{
    decide::{input::Finding, shown::Shown},
    state::{history::History, snapshot::Tail},
};
use std::time::Duration;

/// An input of the driver.
#[derive(Debug)]
pub enum Event<H: Host> {
    /// The answer to [`super::Order::Load`] and [`super::Order::Reread`]: the folded records.
    Loaded {
        history: Box<History>,
        /// How many records were folded.
        tail: Tail,
    },
    LoadFailed(H::Error),
    /// The answer to [`super::Order::Inspect`], in any order. A call of which nothing is known may be absent.
    Inspected(Vec<Finding>),
    /// The next message of the mailbox, when [`super::Driver::wants`] asks for one.
    Message(Message<H>),
    /// The next deferred message can be handled: the answer to [`Wants::HandleDeferred`].
    HandleDeferred,
    /// The answer to [`super::Order::Kill`]: the text that clients were shown of the replies.
    Killed(Shown),
    /// The append is committed and published.
    Committed(AppendId),
    AppendFailed {
        append: AppendId,
        error: H::Error,
        /// The append contradicts stored records, for example because its own records are already stored.
        contradicts: bool,
    },
    /// The answer to [`super::Order::Erase`]: the number of deleted records.
    Erased(Result<u64, H::Error>),
    /// The disk has become full, or has room again.
    Disk {
        full: bool,
    },
    /// No new work begins until [`Event::Release`].
    Hold,
    /// The hold is over: tasks go on.
    Release,
    /// The daemon drains: no new work begins.
    Drain,
    /// The daemon no longer waits for running attempts. Repeated as long as [`super::Driver::wants`] asks for
    /// messages.
    CutOff,
    /// No message came within the `linger` of [`Wants::Message`].
    LingerOver,
}

/// The event that a driver waits for, besides the answers to its orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// [`Event::HandleDeferred`], at once.
    HandleDeferred,
    /// A message of either lane, urgent ones first; [`Event::LingerOver`] if none comes within `linger`.
    Message { linger: Option<Duration> },
    /// A message of the urgent lane, or [`Event::Disk`]: an append waits for room on a full disk.
    UrgentMessage,
    /// The same while an append is under way that would wait for room on a full disk. The message is deferred
    /// until the commit, so that all outcomes that came meanwhile become one append.
    MessageToDefer,
    /// [`Event::Disk`]: such an append is under way, and enough messages are deferred.
    Disk,
    /// No other event.
    Nothing,
}
