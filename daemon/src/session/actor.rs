//! A conversation's actor: a tokio task that carries out its driver's orders and passes it events.
//!
//! [`Actor::run`] alternates between both. `carry_out` (in `order`) does an order at once, or puts a future
//! for its answer into `pending`. When no order is left, `next_event` waits for that answer, for what the
//! driver asks for (a message of the mailbox, a change of the disk, the end of the linger time), and for the
//! daemon's shutdown. Attempts run in the runner's own tasks; their outcomes arrive as messages. The actor
//! decides nothing.

mod cut_off;
pub(super) mod history_snapshot;
mod job;
mod order;

use super::{
    Daemon, Event, Sessions,
    mailbox::{Mail, Mailbox, Message},
};
use crate::{clock, runner::Attempt};
use abide_engine::{
    Effect,
    driver::{Driver, Wants},
};
use abide_protocol::{ConversationId, TaskId};
use abide_store::StorageState;
use job::Prefix;
use std::{collections::HashMap, future, mem, pin::Pin, sync::Arc};
use tokio::sync::watch;

pub(super) struct Actor {
    id: ConversationId,
    sessions: Sessions,
    mailbox: Mailbox,
    mail: Mail,
    driver: Driver<Daemon>,
    /// The answer to the last order that has one, until it comes.
    pending: Option<Pending>,
    /// The running attempts. All are cancelled when the actor ends.
    running: HashMap<Effect, Attempt>,
    /// The gate of the append that is under way, or of the next one. Attempts wait until it is true; they end
    /// if it is dropped.
    gate: watch::Sender<bool>,
    storage: watch::Receiver<StorageState>,
    /// The driver was sent [`Event::Drain`].
    knows_drain: bool,
    /// The driver was sent [`Event::Hold`], and no [`Event::Release`] since.
    knows_hold: bool,
    /// [`Order::Leave`] was carried out.
    has_left: bool,
    /// The start that all model requests of a task share.
    prefixes: HashMap<TaskId, Prefix>,
}

type Pending = Pin<Box<dyn Future<Output = Event> + Send>>;

impl Actor {
    pub(super) fn new(id: ConversationId, sessions: Sessions, mailbox: Mailbox, mail: Mail) -> Self {
        let (storage, predecessor) = (sessions.inner.store.state(), sessions.inner.predecessor);
        let clock = sessions.inner.alarm.clock(id).unwrap_or_else(clock::moved);
        Self {
            id,
            sessions,
            mailbox,
            mail,
            driver: Driver::new(id, history_snapshot::SPACING, predecessor, clock),
            pending: None,
            running: HashMap::new(),
            gate: watch::channel(false).0,
            storage,
            knows_drain: false,
            knows_hold: false,
            has_left: false,
            prefixes: HashMap::new(),
        }
    }

    pub(super) async fn run(mut self) {
        loop {
            while let Some(order) = self.driver.next_order() {
                self.carry_out(order).await;
            }
            let Some(event) = self.next_event().await else { return };
            self.send(event);
        }
    }

    fn send(&mut self, event: Event) {
        self.driver.on(event, &mut clock::mint());
    }

    /// The next event for the driver. `None`: the actor has left, and its mailbox is empty.
    async fn next_event(&mut self) -> Option<Event> {
        loop {
            let holding = self.sessions.is_holding();
            if mem::replace(&mut self.knows_hold, holding) != holding {
                return Some(if holding { Event::Hold } else { Event::Release });
            }
            if self.sessions.is_draining() && !mem::replace(&mut self.knows_drain, true) {
                return Some(Event::Drain);
            }
            let wants = self.driver.wants();
            // What is not committed yet may start attempts.
            let rests = holding && self.running.is_empty() && matches!(wants, Wants::Message { .. });
            if self.mail.set_rests(rests) {
                self.sessions.inner.rested.notify_waiters();
            }
            if wants == Wants::HandleDeferred {
                return Some(Event::HandleDeferred);
            }
            let waits_for_messages = matches!(wants, Wants::Message { .. } | Wants::UrgentMessage);
            let takes_messages = waits_for_messages || wants == Wants::MessageToDefer;
            let appends = matches!(wants, Wants::Disk | Wants::UrgentMessage | Wants::MessageToDefer);
            let nudged = Arc::clone(&self.mail.nudged);
            let linger = if let Wants::Message { linger } = wants { linger } else { None };
            tokio::select! {
                biased;
                event = answer(&mut self.pending) => {
                    self.pending = None;
                    return Some(event);
                }
                full = storage_changed(&mut self.storage), if appends => {
                    return Some(Event::Disk { full });
                }
                () = self.sessions.cutting(), if waits_for_messages && !self.has_left => {
                    return Some(Event::CutOff);
                }
                message = next_message(&mut self.mail, wants), if takes_messages => {
                    return message.map(|message| self.received(message));
                }
                () = nudged.notified() => {}
                () = tokio::time::sleep(linger.unwrap_or_default()), if linger.is_some() => {
                    return Some(Event::LingerOver);
                }
            }
        }
    }

    fn received(&mut self, message: Message) -> Event {
        if let Message::Outcome { effect, .. } = &message {
            self.running.remove(effect);
        }
        Event::Message(message)
    }
}

/// The answer to an order. Never resolves if none is pending.
async fn answer(pending: &mut Option<Pending>) -> Event {
    match pending {
        Some(answer) => answer.as_mut().await,
        None => future::pending().await,
    }
}

async fn next_message(mail: &mut Mail, wants: Wants) -> Option<Message> {
    match wants {
        Wants::UrgentMessage | Wants::MessageToDefer => Some(mail.next_urgent().await),
        _ => mail.next().await,
    }
}

/// Resolves when the store's state changes: whether the disk is full.
async fn storage_changed(storage: &mut watch::Receiver<StorageState>) -> bool {
    if storage.changed().await.is_err() {
        // The store is closed, so its state no longer changes.
        future::pending::<()>().await;
    }
    storage.borrow_and_update().full
}
