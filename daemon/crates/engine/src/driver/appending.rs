//! An append that is under way, and who waits for it.

use super::{AppendId, Host, Message};
use crate::decide::{command::Command, effect::Effect, input::Refusal};
use abide_protocol::{TaskId, record::NewRecord};

/// An append that is neither committed nor failed. Its records are already folded into the history in memory.
#[derive(Debug)]
pub(super) struct Appending<H: Host> {
    pub(super) id: AppendId,
    pub(super) records: Vec<NewRecord>,
    pub(super) urgent: bool,
    pub(super) waiter: Waiter<H>,
    /// The attempts to start after the commit.
    pub(super) after_commit: Vec<Effect>,
    /// Urgent commands that joined the append on a full disk.
    pub(super) joined: Vec<Joined<H>>,
    /// The urgent message that joins once the attempts that it ends are killed.
    pub(super) joining: Option<Message<H>>,
    /// An earlier append of these records was withdrawn, perhaps after it had committed.
    pub(super) was_withdrawn: bool,
}

/// Who waits for an append to commit.
#[derive(Debug)]
pub(super) enum Waiter<H: Host> {
    Nobody,
    Command {
        reply: H::Reply,
        task: Option<TaskId>,
    },
    Deletion(H::Deletion),
    /// The actor itself: these records recover the work that a load found interrupted.
    Recovery,
}

impl<H: Host> Appending<H> {
    /// Not urgent, so on a full disk it waits for room, and an urgent command may join it.
    pub(super) const fn can_be_joined(&self) -> bool {
        !self.urgent && self.joining.is_none()
    }
}

/// An urgent command that joined an append. Its reply waits for the commit.
#[derive(Debug)]
pub(super) struct Joined<H: Host> {
    pub(super) command: Command,
    /// A refusal may depend on records that are not committed yet, so it waits for the commit as well.
    pub(super) accepted: Result<(), Refusal>,
    pub(super) reply: H::Reply,
}
