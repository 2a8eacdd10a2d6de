//! What waits to be written to one connection.

use abide_protocol::{
    ConversationId, Seq, SubscriptionId, TaskId,
    codec::Outgoing,
    inbox::PendingId,
    notification::{DeltaItem, DeltaKind, InboxUpdate, Lagged, Notification, TaskDelta, TaskEvent, TaskMessage},
    record::Record,
};
use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// Records that may wait for one connection.
const MAX_RECORDS: usize = 4096;
/// Bytes of one item's merged deltas; beyond, the older half goes (the reader sees it by the offset).
const MAX_DELTA: usize = 256 * 1024;

/// Something to be written.
#[derive(Debug, Clone)]
pub enum Parcel {
    Outgoing(Box<Outgoing>),
    Record { subscription: SubscriptionId, record: Arc<Record> },
    /// Write what is before it, then close.
    Close,
}

impl Parcel {
    fn notification(notification: Notification) -> Self {
        Self::Outgoing(Box::new(Outgoing::Notification(notification)))
    }

    /// As it goes over the wire; `None` for [`Self::Close`].
    #[must_use]
    pub fn into_outgoing(self) -> Option<Outgoing> {
        match self {
            Self::Outgoing(outgoing) => Some(*outgoing),
            Self::Record { subscription, record } => Some(Outgoing::Notification(sequenced(subscription, &record))),
            Self::Close => None,
        }
    }
}

/// The one notification that a record yields.
fn sequenced(subscription_id: SubscriptionId, record: &Record) -> Notification {
    match record.message() {
        Some(message) => Notification::TaskMessage(TaskMessage { subscription_id, seq: record.seq, message }),
        None => Notification::TaskEvent(TaskEvent { subscription_id, seq: record.seq, record: record.clone() }),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Latest {
    Task(TaskId),
    Conversation(ConversationId),
    Inbox,
    Daemon,
}

type DeltaKey = (SubscriptionId, DeltaItem, DeltaKind);

#[derive(Debug)]
enum Slot {
    Parcel(Parcel),
    /// The value is in `latest`: a newer one takes its place.
    Latest(Latest),
    /// The text is in `deltas`: more text joins it.
    Delta(DeltaKey),
}

#[derive(Debug, Default)]
struct Queue {
    slots: VecDeque<Slot>,
    latest: HashMap<Latest, Notification>,
    deltas: HashMap<DeltaKey, TaskDelta>,
    records: usize,
    closed: bool,
}

/// A connection's queue. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Outbox {
    queue: Arc<Mutex<Queue>>,
    filled: Arc<Notify>,
    drained: Arc<Notify>,
    closed: Arc<Notify>,
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, parcel: Parcel) {
        let mut queue = self.lock();
        if !queue.closed {
            queue.slots.push_back(Slot::Parcel(parcel));
        }
        drop(queue);
        self.filled.notify_one();
    }

    /// A reply, or an error that belongs to no request. (Bounded by the requests a connection may have under way.)
    pub fn send(&self, outgoing: Outgoing) {
        self.put(Parcel::Outgoing(Box::new(outgoing)));
    }

    /// What is queued is still written, then the connection is closed.
    pub fn close(&self) {
        self.put(Parcel::Close);
        self.lock().closed = true;
        self.closed.notify_waiters();
    }

    /// Resolves when nothing is taken any more.
    pub async fn closed(&self) {
        let closed = self.closed.notified();
        if !self.is_closed() {
            closed.await;
        }
    }

    /// A record. If too many wait already the client is told where to resume, and cut.
    pub fn record(&self, subscription: SubscriptionId, record: Arc<Record>) {
        let mut queue = self.lock();
        if queue.closed {
            return;
        }
        if queue.records < MAX_RECORDS {
            queue.records += 1;
            queue.slots.push_back(Slot::Parcel(Parcel::Record { subscription, record }));
        } else {
            queue.cut(subscription, record.seq);
            self.closed.notify_waiters();
        }
        drop(queue);
        self.filled.notify_one();
    }

    /// An update of which only the newest value counts.
    pub(super) fn latest(&self, notification: Notification) {
        let key = match &notification {
            Notification::TaskUpdate(u) => Latest::Task(u.task.id),
            Notification::ConversationUpdate(u) => Latest::Conversation(u.conversation_id),
            Notification::InboxUpdate(_) => Latest::Inbox,
            Notification::DaemonUpdate(_) => Latest::Daemon,
            Notification::TaskMessage(_) | Notification::TaskEvent(_) | Notification::TaskDelta(_) | Notification::Lagged(_) => {
                return self.send(Outgoing::Notification(notification));
            }
        };
        let mut queue = self.lock();
        if queue.closed {
            return;
        }
        match queue.latest.remove(&key) {
            Some(older) => {
                queue.latest.insert(key, merge(older, notification));
            }
            None => {
                queue.latest.insert(key, notification);
                queue.slots.push_back(Slot::Latest(key));
            }
        }
        drop(queue);
        self.filled.notify_one();
    }

    /// Live output. It joins what waits of the same item.
    pub(super) fn delta(&self, delta: TaskDelta) {
        let key = (delta.subscription_id, delta.item, delta.kind);
        let mut queue = self.lock();
        if queue.closed {
            return;
        }
        match queue.deltas.get_mut(&key) {
            Some(waiting) if waiting.attempt == delta.attempt => {
                waiting.text.push_str(&delta.text);
                if waiting.text.len() > MAX_DELTA {
                    let cut = waiting.text.floor_char_boundary(waiting.text.len() - MAX_DELTA / 2);
                    waiting.text.drain(..cut);
                    waiting.offset += cut as u64;
                }
            }
            Some(waiting) => *waiting = delta,
            None => {
                queue.deltas.insert(key, delta);
                queue.slots.push_back(Slot::Delta(key));
            }
        }
        drop(queue);
        self.filled.notify_one();
    }

    /// All that waits; waits for something if nothing does.
    pub async fn take(&self) -> Vec<Parcel> {
        loop {
            let filled = self.filled.notified();
            let parcels = self.lock().drain();
            if !parcels.is_empty() {
                self.drained.notify_waiters();
                return parcels;
            }
            filled.await;
        }
    }

    /// Resolves when there is room for a page of records: catching up goes at the reader's pace.
    pub async fn has_room(&self) {
        loop {
            let drained = self.drained.notified();
            {
                let queue = self.lock();
                if queue.closed || queue.records < MAX_RECORDS / 4 {
                    return;
                }
            }
            drained.await;
        }
    }

    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }
}

impl Queue {
    fn drain(&mut self) -> Vec<Parcel> {
        self.records = 0;
        let slots = std::mem::take(&mut self.slots);
        slots
            .into_iter()
            .filter_map(|slot| match slot {
                Slot::Parcel(parcel) => Some(parcel),
                Slot::Latest(key) => self.latest.remove(&key).map(Parcel::notification),
                Slot::Delta(key) => self.deltas.remove(&key).map(Notification::TaskDelta).map(Parcel::notification),
            })
            .collect()
    }

    /// Drops what can be read again later; replies stay.
    fn cut(&mut self, subscription_id: SubscriptionId, next: Seq) {
        let first = self.slots.iter().find_map(|slot| match slot {
            Slot::Parcel(Parcel::Record { subscription, record }) if *subscription == subscription_id => Some(record.seq),
            _ => None,
        });
        let resume_from = Seq(first.unwrap_or(next).0.saturating_sub(1));
        self.slots.retain(|slot| matches!(slot, Slot::Parcel(Parcel::Outgoing(_))));
        self.latest.clear();
        self.deltas.clear();
        self.records = 0;
        let lagged = Notification::Lagged(Lagged { subscription_id, resume_from });
        self.slots.push_back(Slot::Parcel(Parcel::notification(lagged)));
        self.slots.push_back(Slot::Parcel(Parcel::Close));
        self.closed = true;
    }
}

/// The newer value; what came to and left the inbox adds up.
fn merge(older: Notification, newer: Notification) -> Notification {
    let (Notification::InboxUpdate(older), Notification::InboxUpdate(newer)) = (older, &newer) else { return newer };
    let gone: BTreeSet<PendingId> = newer.removed.iter().copied().collect();
    let mut added: Vec<_> = older.added.into_iter().filter(|item| !gone.contains(&item.pending.id())).collect();
    added.extend(newer.added.iter().cloned());
    let mut removed = older.removed;
    removed.extend(&newer.removed);
    Notification::InboxUpdate(InboxUpdate { added, removed, count: newer.count })
}
