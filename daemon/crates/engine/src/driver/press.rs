//! On a full disk appends wait for room, and a person who stops, answers or deletes does not: the append that waits is withdrawn,
//! and goes in again as an urgent one together with what that person's command makes of the memory.
//!
//! Should the withdrawn append have been committed after all, the second one contradicts it, since a record is stored once. Then the
//! records are read again, and the urgent command has its turn after that.

use super::{Driver, Host, Message, Order, State, append::Appending};
use crate::{
    command::Command,
    input::{Refusal, Shown},
    mint::Mint,
};
use std::mem;

/// An urgent command that was added to an append; its reply waits for the commit.
#[derive(Debug)]
pub(super) struct Pressed<H: Host> {
    pub(super) command: Command,
    /// A refusal may rest on records that are not committed yet, so it waits for them as well.
    pub(super) told: Result<(), Refusal>,
    pub(super) reply: H::Reply,
}

impl<H: Host> Driver<H> {
    pub(super) fn press(&mut self, message: Message<H>, mint: &mut Mint) {
        let effects = self.ended_by(&message);
        let kills = !effects.is_empty();
        if kills {
            self.kill(effects);
        }
        match mem::replace(&mut self.state, State::Ready) {
            State::Appending(mut appending) if kills => {
                appending.killing = Some(message);
                self.state = State::Appending(appending);
            }
            State::Appending(appending) => self.join(appending, message, &Shown::new(), mint),
            other => self.state = other,
        }
    }

    /// The work that an urgent command ends is killed.
    pub(super) fn killed_to_press(
        &mut self,
        mut appending: Box<Appending<H>>,
        shown: &Shown,
        mint: &mut Mint,
    ) {
        match appending.killing.take() {
            Some(message) => self.join(appending, message, shown, mint),
            None => self.state = State::Appending(appending),
        }
    }

    fn join(
        &mut self,
        mut appending: Box<Appending<H>>,
        message: Message<H>,
        shown: &Shown,
        mint: &mut Mint,
    ) {
        self.orders.push_back(Order::Withdraw(appending.id));
        match message {
            Message::Command { command, reply } => {
                let more = self.take(command.clone().into_input(shown.clone()), mint);
                let told = more.map(|more| appending.records.extend(more));
                appending.pressed.push(Pressed { command, told, reply });
            }
            // Every task has ended once this is committed; the deletion's turn is next.
            Message::Delete { .. } => {
                appending.records.extend(self.stop_all(shown.clone(), mint));
                self.aside.push_front(message);
            }
            Message::Fork { .. } | Message::Outcome { .. } | Message::Wake => self.aside.push_back(message),
        }
        appending.urgent = true;
        appending.was_withdrawn = true;
        self.submit(appending);
    }

    /// The append failed that these commands were added to: their turn comes before anything else, once the records are read again.
    pub(super) fn put_back(&mut self, pressed: Vec<Pressed<H>>, killing: Option<Message<H>>) {
        let pressed = pressed.into_iter().map(|p| Message::Command { command: p.command, reply: p.reply });
        for message in pressed.chain(killing).rev().collect::<Vec<_>>() {
            self.aside.push_front(message);
        }
    }
}
