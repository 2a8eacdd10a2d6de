//! When an actor leaves, and what happens to the messages that are still in its mailbox.

use super::{Driver, Duty, Failure, Host, Message, Order, State};
use crate::state::status::is_at_work;
use std::{mem, time::Duration};

/// How long an actor with nothing to do stays, so that a burst of requests loads the records once.
const LINGER: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Leaving<H: Host> {
    reason: LeaveReason<H::Error>,
    /// Where the reply to the deletion that is under way is sent.
    deletion: Option<H::Deletion>,
}

/// Why the actor leaves. It decides what happens to messages that still arrive.
#[derive(Debug)]
enum LeaveReason<E> {
    /// Nothing is left to do. Messages are passed on to the next actor of the conversation.
    Idle,
    /// The daemon shuts down. Commands fail as such.
    ShutDown,
    /// The records cannot be loaded or continued. Commands fail with the error, but the conversation can be
    /// deleted.
    Unreadable(E),
}

impl<H: Host> Leaving<H> {
    pub(super) const fn awaits_messages(&self) -> bool {
        self.deletion.is_none()
    }

    pub(super) fn erased(mut self) -> (Self, Option<H::Deletion>) {
        let deletion = self.deletion.take();
        (self, deletion)
    }
}

impl<H: Host> Driver<H> {
    /// How long the actor waits for a message before it leaves. `None`: it stays, because an attempt runs, a
    /// task is at work, or the daemon holds.
    pub(super) fn linger(&self) -> Option<Duration> {
        match self.duty {
            _ if !self.running.is_empty() => None,
            // What it begins at the release is known to no other actor.
            Duty::Hold => None,
            Duty::Full => (!self.history.live().any(is_at_work)).then_some(LINGER),
            Duty::Drain | Duty::RecordOnly => Some(Duration::ZERO),
        }
    }

    pub(super) fn linger_over(&mut self) {
        if matches!(self.state, State::Ready) && self.deferred.is_empty() && self.linger().is_some() {
            self.leave(LeaveReason::Idle);
        }
    }

    /// Leaves without waiting for running attempts. The next daemon finds them interrupted.
    pub(super) fn cut_off(&mut self) {
        match mem::replace(&mut self.state, State::Ready) {
            State::Ready => self.leave(LeaveReason::ShutDown),
            State::Appending(appending) if self.is_disk_full && appending.can_be_joined() => {
                self.abandon(*appending);
                self.leave(LeaveReason::ShutDown);
            }
            other => self.state = other,
        }
    }

    pub(super) fn unreadable(&mut self, error: H::Error) {
        self.leave(LeaveReason::Unreadable(error));
    }

    fn leave(&mut self, reason: LeaveReason<H::Error>) {
        self.orders.push_back(Order::Leave);
        self.running.clear();
        self.state = State::Leaving(Leaving { reason, deletion: None });
    }

    /// Answers, passes on or drops a message that arrives after the actor has left.
    pub(super) fn message_while_leaving(&mut self, message: Message<H>) {
        let State::Leaving(leaving) = &mut self.state else { return };
        match (&leaving.reason, message) {
            // The next actor reads the records anyway.
            (LeaveReason::Idle, Message::Reread) => {}
            (LeaveReason::Idle, message) => self.orders.push_back(Order::PassOn(message)),
            (
                LeaveReason::Unreadable(error),
                Message::Command { reply, .. } | Message::Fork { reply, .. },
            ) => {
                let answer = Err(Failure::Failed(error.clone()));
                self.reply(reply, answer);
            }
            (LeaveReason::Unreadable(_), Message::Delete { reply }) => {
                leaving.deletion = Some(reply);
                self.orders.push_back(Order::Erase);
            }
            (LeaveReason::ShutDown, Message::Command { reply, .. } | Message::Fork { reply, .. }) => {
                self.reply(reply, Err(Failure::ShuttingDown));
            }
            (LeaveReason::ShutDown, Message::Delete { reply }) => {
                self.orders.push_back(Order::ReplyDeleted { reply, answer: Err(Failure::ShuttingDown) });
            }
            // Nothing is recorded any more, so the next daemon finds the attempt interrupted.
            (
                LeaveReason::Unreadable(_) | LeaveReason::ShutDown,
                Message::Outcome { .. } | Message::Wake | Message::Reread,
            ) => {}
        }
    }
}
