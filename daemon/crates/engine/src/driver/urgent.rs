//! Urgent commands on a full disk. An append waits there for room, but an urgent command may use the disk
//! reserve. Its records depend on those that wait, so it joins them: the waiting append is withdrawn and
//! submitted again, as an urgent append that also has the command's records.
//!
//! If the withdrawn append had committed after all, the second one fails, because its records are stored
//! already. Then the records are loaded again, and the urgent command is handled after that.

use super::{
    Driver, Host, Message, Order, State,
    appending::{Appending, Joined},
};
use crate::{decide::shown::Shown, mint::Mint};
use std::mem;

impl<H: Host> Driver<H> {
    /// Lets an urgent message join the waiting append, once the attempts that it ends are killed.
    pub(super) fn join(&mut self, message: Message<H>, mint: &mut Mint) {
        let cut_off = self.cut_off_by(&message, mint.at());
        let kills = !cut_off.is_empty();
        if kills {
            self.kill(cut_off);
        }
        match mem::replace(&mut self.state, State::Ready) {
            State::Appending(mut appending) if kills => {
                appending.joining = Some(message);
                self.state = State::Appending(appending);
            }
            State::Appending(appending) => {
                self.unrecorded = self.unrecorded();
                self.extend_append(appending, message, &Shown::new(), mint);
            }
            other => self.state = other,
        }
    }

    /// The attempts that the urgent message ends are killed; `shown` is the text that clients were shown of
    /// their replies.
    pub(super) fn join_after_kill(
        &mut self,
        mut appending: Box<Appending<H>>,
        shown: &Shown,
        mint: &mut Mint,
    ) {
        match appending.joining.take() {
            Some(message) => self.extend_append(appending, message, shown, mint),
            None => self.state = State::Appending(appending),
        }
    }

    fn extend_append(
        &mut self,
        mut appending: Box<Appending<H>>,
        message: Message<H>,
        shown: &Shown,
        mint: &mut Mint,
    ) {
        self.orders.push_back(Order::Withdraw(appending.id));
        match message {
            Message::Command { command, reply } => {
                let more = self.apply(command.clone(), shown.clone(), mint);
                let accepted = more.map(|more| appending.records.extend(more));
                appending.joined.push(Joined { command, accepted, reply });
            }
            // The append ends every task. The deletion is handled after its commit.
            Message::Delete { .. } => {
                appending.records.extend(self.stop_all(shown.clone(), mint));
                self.deferred.push_front(message);
            }
            Message::Fork { .. } | Message::Outcome { .. } | Message::Wake | Message::Reread => {
                self.deferred.push_back(message);
            }
        }
        appending.urgent = true;
        appending.was_withdrawn = true;
        self.submit_after_kill(appending);
    }

    /// Defers the urgent messages that had joined a failed append. They are handled before other messages,
    /// once the records are loaded again.
    pub(super) fn defer_first(&mut self, joined: Vec<Joined<H>>, joining: Option<Message<H>>) {
        let joined = joined.into_iter().map(|j| Message::Command { command: j.command, reply: j.reply });
        for message in joined.chain(joining).rev().collect::<Vec<_>>() {
            self.deferred.push_front(message);
        }
    }
}
