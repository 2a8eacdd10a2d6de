//! When an actor goes, and what becomes of the messages that it leaves.

use super::{Driver, Duty, Failure, Host, Message, Order, State};
use crate::status::is_at_work;
use std::{mem, time::Duration};

/// How long an actor with nothing to do stays, so that a burst of requests reads the records once.
const LINGER: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Leaving<H: Host> {
    farewell: Farewell<H::Error>,
    /// Who waits for the deletion that is under way.
    deletion: Option<H::Deletion>,
}

/// What becomes of messages.
#[derive(Debug)]
enum Farewell<E> {
    /// They are the successor's.
    PassOn,
    /// The daemon ends.
    ShutDown,
    /// The records cannot be read or continued. They can still be deleted.
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
    /// How long the actor waits for a message before it goes: nothing runs, and every task waits for a person, for a moment or for the
    /// next daemon. `None`: it stays.
    pub(super) fn linger(&self) -> Option<Duration> {
        match self.duty {
            _ if !self.running.is_empty() => None,
            Duty::All => (!self.history.live().any(is_at_work)).then_some(LINGER),
            Duty::Record | Duty::RecordOnly => Some(Duration::ZERO),
        }
    }

    pub(super) fn linger_over(&mut self) {
        if matches!(self.state, State::Ready) && self.aside.is_empty() && self.linger().is_some() {
            self.leave(Farewell::PassOn);
        }
    }

    /// What still runs is found interrupted at the next start.
    pub(super) fn cut_off(&mut self) {
        match mem::replace(&mut self.state, State::Ready) {
            State::Ready => self.leave(Farewell::ShutDown),
            State::Appending(appending) if self.is_disk_full && appending.can_be_pressed() => {
                self.abandon(*appending);
                self.leave(Farewell::ShutDown);
            }
            other => self.state = other,
        }
    }

    pub(super) fn unreadable(&mut self, error: H::Error) {
        self.leave(Farewell::Unreadable(error));
    }

    fn leave(&mut self, farewell: Farewell<H::Error>) {
        self.orders.push_back(Order::Leave);
        self.cancel_all();
        self.state = State::Leaving(Leaving { farewell, deletion: None });
    }

    pub(super) fn dismiss(&mut self, message: Message<H>) {
        let State::Leaving(leaving) = &mut self.state else { return };
        match (&leaving.farewell, message) {
            (Farewell::PassOn, message) => self.orders.push_back(Order::PassOn(message)),
            (Farewell::Unreadable(error), Message::Command { reply, .. } | Message::Fork { reply, .. }) => {
                let answer = Err(Failure::Failed(error.clone()));
                self.reply(reply, answer);
            }
            (Farewell::Unreadable(_), Message::Delete { reply }) => {
                leaving.deletion = Some(reply);
                self.orders.push_back(Order::Erase);
            }
            (Farewell::ShutDown, Message::Command { reply, .. } | Message::Fork { reply, .. }) => {
                self.reply(reply, Err(Failure::ShuttingDown));
            }
            (Farewell::ShutDown, Message::Delete { reply }) => {
                self.orders.push_back(Order::ReplyDeleted { reply, answer: Err(Failure::ShuttingDown) });
            }
            // The outcome no longer counts.
            (Farewell::Unreadable(_) | Farewell::ShutDown, Message::Outcome { .. } | Message::Wake) => {}
        }
    }
}
