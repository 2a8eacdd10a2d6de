//! The owner of one conversation: carries out what its driver orders, and tells it what happens.

mod checkpoint;
mod cut_off;
mod job;
mod order;

use super::{
    Daemon, Event, Sessions,
    mailbox::{Mail, Mailbox, Message},
};
use crate::clock;
use abide_engine::{
    Effect,
    driver::{Driver, Wants},
};
use abide_protocol::{ConversationId, TaskId};
use abide_store::StorageState;
use job::Prefix;
use std::{collections::HashMap, future, mem, pin::Pin, sync::Arc};
use tokio::sync::watch;
use tokio_util::sync::DropGuard;

pub(super) struct Actor {
    id: ConversationId,
    sessions: Sessions,
    mailbox: Mailbox,
    mail: Mail,
    driver: Driver<Daemon>,
    /// The order whose answer the driver waits for.
    ordered: Option<Ordered>,
    /// What runs. It is cancelled when it is taken out of here, in whatever way the actor goes.
    running: HashMap<Effect, DropGuard>,
    /// Of the append that is under way, or of the next one.
    gate: watch::Sender<bool>,
    storage: watch::Receiver<StorageState>,
    /// The driver has been told.
    knows_drain: bool,
    has_left: bool,
    /// What the requests of each task begin with.
    prefixes: HashMap<TaskId, Prefix>,
}

type Ordered = Pin<Box<dyn Future<Output = Event> + Send>>;

impl Actor {
    pub(super) fn new(id: ConversationId, sessions: Sessions, mailbox: Mailbox, mail: Mail) -> Self {
        let storage = sessions.inner.store.state();
        Self {
            id,
            sessions,
            mailbox,
            mail,
            driver: Driver::new(id, checkpoint::SPACING),
            ordered: None,
            running: HashMap::new(),
            gate: watch::channel(false).0,
            storage,
            knows_drain: false,
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
            self.tell(event);
        }
    }

    fn tell(&mut self, event: Event) {
        self.driver.on(event, &mut clock::mint());
    }

    /// `None`: the actor has left, and so has the last message.
    async fn next_event(&mut self) -> Option<Event> {
        loop {
            if self.sessions.is_draining() && !mem::replace(&mut self.knows_drain, true) {
                return Some(Event::Drain);
            }
            let wants = self.driver.wants();
            if wants == Wants::Turn {
                return Some(Event::Turn);
            }
            let waits_for_messages = matches!(wants, Wants::Message { .. } | Wants::UrgentMessage);
            let nudged = Arc::clone(&self.mail.nudged);
            let linger = if let Wants::Message { linger } = wants { linger } else { None };
            tokio::select! {
                biased;
                event = answer(&mut self.ordered) => {
                    self.ordered = None;
                    return Some(event);
                }
                full = changed(&mut self.storage), if matches!(wants, Wants::Disk | Wants::UrgentMessage) => {
                    return Some(Event::Disk { full });
                }
                () = self.sessions.cutting(), if waits_for_messages && !self.has_left => {
                    return Some(Event::CutOff);
                }
                message = next_message(&mut self.mail, wants), if waits_for_messages => {
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

/// The answer to an order; without one it does not come.
async fn answer(ordered: &mut Option<Ordered>) -> Event {
    match ordered {
        Some(ordered) => ordered.as_mut().await,
        None => future::pending().await,
    }
}

async fn next_message(mail: &mut Mail, wants: Wants) -> Option<Message> {
    if wants == Wants::UrgentMessage { Some(mail.next_urgent().await) } else { mail.next().await }
}

/// Whether the disk is full, once that has changed.
async fn changed(storage: &mut watch::Receiver<StorageState>) -> bool {
    if storage.changed().await.is_err() {
        // The store is closed: nothing changes any more.
        future::pending::<()>().await;
    }
    storage.borrow_and_update().full
}
