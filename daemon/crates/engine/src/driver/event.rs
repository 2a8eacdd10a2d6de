use super::{AppendId, Host, Message};
use crate::{
    history::{History, Tail},
    input::{Finding, Shown},
};
use std::time::Duration;

/// What a driver is told.
#[derive(Debug)]
pub enum Event<H: Host> {
    /// [`super::Order::Load`]: the state that the records come to.
    Loaded {
        history: Box<History>,
        /// The records that were folded.
        tail: Tail,
    },
    LoadFailed(H::Error),
    /// [`super::Order::Inspect`]: what was found out, in any order; a call that nothing is known of may be absent.
    Inspected(Vec<Finding>),
    /// The next message of the mailbox, as [`super::Driver::wants`] says.
    Message(Message<H>),
    /// [`Wants::Turn`].
    Turn,
    /// [`super::Order::Kill`]: what people have seen of the replies that were cut off.
    Killed(Shown),
    /// The append is on disk, and published.
    Committed(AppendId),
    AppendFailed {
        append: AppendId,
        error: H::Error,
        /// It contradicts what is stored, as an append does whose records are stored already.
        contradicts: bool,
    },
    /// [`super::Order::Erase`]: so many records are gone, or none.
    Erased(Result<u64, H::Error>),
    /// Whether the disk is full, when that has changed.
    Disk {
        full: bool,
    },
    /// The daemon drains: nothing new begins any more.
    Drain,
    /// The daemon waits no longer for work to come to its boundary. Told again as long as [`super::Driver::wants`] asks for messages.
    CutOff,
    /// No message came for as long as [`Wants::Message`] said.
    LingerOver,
}

/// What a driver waits for besides the answers to its orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// Nothing: a message that was set aside has its turn, [`Event::Turn`].
    Turn,
    /// A message of either lane, urgent ones first. If none comes in the time of `linger`: [`Event::LingerOver`].
    Message { linger: Option<Duration> },
    /// A message of the urgent lane, or [`Event::Disk`]: an append waits for room.
    UrgentMessage,
    /// [`Event::Disk`]: an append that may have to wait for room is under way.
    Disk,
    /// Only the answers to its orders.
    Nothing,
}
