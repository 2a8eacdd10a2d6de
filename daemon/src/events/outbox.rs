//! What waits to be written to one connection.

use super::weight::weight;
use abide_protocol::{
    ConversationId, Seq, SubscriptionId, TaskId,
    codec::Outgoing,
    inbox::PendingId,
    limits::{MAX_QUEUED_BYTES, MAX_QUEUED_RECORDS},
    notification::{
        DeltaItem, DeltaKind, InboxUpdate, Lagged, Notification, TaskDelta, TaskEvent, TaskMessage,
    },
    record::Record,
};
use std::{
    collections::{BTreeSet, HashMap, VecDeque, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// Replies that may wait before no more requests are read.
const MAX_REPLIES: usize = 64;
/// Bytes of one item's merged deltas; beyond, the older half goes (the reader sees it by the offset).
const MAX_DELTA: usize = 256 * 1024;

/// Something to be written.
#[derive(Debug, Clone)]
pub enum Parcel {
    Outgoing(Box<Outgoing>),
    Record {
        subscription: SubscriptionId,
        record: Arc<Record>,
    },
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
            Self::Record { subscription, record } => {
                Some(Outgoing::Notification(sequenced(subscription, &record)))
            }
            Self::Close => None,
        }
    }
}

/// The one notification that a record yields.
fn sequenced(subscription_id: SubscriptionId, record: &Record) -> Notification {
    match record.message() {
        Some(message) => Notification::TaskMessage(TaskMessage { subscription_id, seq: record.seq, message }),
        None => {
            Notification::TaskEvent(TaskEvent { subscription_id, seq: record.seq, record: record.clone() })
        }
    }
}

/// What an update is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Latest {
    Task(TaskId),
    Conversation(ConversationId),
    Inbox,
    Daemon,
}

impl Latest {
    fn of(notification: &Notification) -> Option<Self> {
        match notification {
            Notification::TaskUpdate(u) => Some(Self::Task(u.task.id)),
            Notification::ConversationUpdate(u) => Some(Self::Conversation(u.conversation_id)),
            Notification::InboxUpdate(_) => Some(Self::Inbox),
            Notification::DaemonUpdate(_) => Some(Self::Daemon),
            Notification::TaskMessage(_)
            | Notification::TaskEvent(_)
            | Notification::TaskDelta(_)
            | Notification::Lagged(_) => None,
        }
    }
}

/// Updates of which only the newest value of each thing counts.
#[derive(Debug, Default)]
pub(super) struct Updates(HashMap<Latest, Notification>);

impl Updates {
    /// Adds an update to what is there; says of what it is, if there was nothing.
    pub(super) fn add(&mut self, notification: Notification) -> Option<Latest> {
        let key = Latest::of(&notification)?;
        match self.0.entry(key) {
            Entry::Occupied(mut older) => {
                merge(older.get_mut(), notification);
                None
            }
            Entry::Vacant(place) => {
                place.insert(notification);
                Some(key)
            }
        }
    }

    pub(super) fn into_values(self) -> impl Iterator<Item = Notification> {
        self.0.into_values()
    }
}

type DeltaKey = (SubscriptionId, DeltaItem, DeltaKind, u32);

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
    latest: Updates,
    deltas: HashMap<DeltaKey, TaskDelta>,
    records: usize,
    /// Of the records.
    bytes: usize,
    replies: usize,
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
            queue.seal();
            queue.replies += 1;
            queue.slots.push_back(Slot::Parcel(parcel));
        }
        drop(queue);
        self.filled.notify_one();
    }

    /// A reply, or an error that belongs to no request. (Whoever reads requests waits for [`Self::replies_fit`] first.)
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
        if queue.records < MAX_QUEUED_RECORDS && queue.bytes < MAX_QUEUED_BYTES {
            queue.records += 1;
            queue.bytes += weight(&record);
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
        let mut queue = self.lock();
        if queue.closed {
            return;
        }
        if let Some(key) = queue.latest.add(notification) {
            queue.slots.push_back(Slot::Latest(key));
        }
        drop(queue);
        self.filled.notify_one();
    }

    /// Live output. It joins what waits of the same item.
    pub(super) fn delta(&self, delta: TaskDelta) {
        let key = (delta.subscription_id, delta.item, delta.kind, delta.attempt);
        let mut queue = self.lock();
        if queue.closed {
            return;
        }
        match queue.deltas.get_mut(&key) {
            Some(waiting) => {
                waiting.text.push_str(&delta.text);
                if waiting.text.len() > MAX_DELTA {
                    let cut = waiting.text.floor_char_boundary(waiting.text.len() - MAX_DELTA / 2);
                    waiting.text.drain(..cut);
                    waiting.offset += cut as u64;
                }
            }
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

    /// Resolves when there is room for a record that could also be read later: catching up goes at the reader's pace.
    pub async fn has_room(&self) {
        self.until(|queue| queue.records < MAX_QUEUED_RECORDS / 4 && queue.bytes < MAX_QUEUED_BYTES / 4)
            .await;
    }

    /// Resolves when one more request may be read: a client that reads no replies is asked for no more requests.
    pub async fn replies_fit(&self) {
        self.until(|queue| queue.replies < MAX_REPLIES).await;
    }

    async fn until(&self, fits: impl Fn(&Queue) -> bool) {
        loop {
            let drained = self.drained.notified();
            {
                let queue = self.lock();
                if queue.closed || fits(&queue) {
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
        self.seal();
        (self.records, self.bytes, self.replies) = (0, 0, 0);
        let slots = std::mem::take(&mut self.slots);
        slots
            .into_iter()
            .filter_map(|slot| match slot {
                Slot::Parcel(parcel) => Some(parcel),
                // Sealed above.
                Slot::Latest(_) => None,
                Slot::Delta(key) => {
                    self.deltas.remove(&key).map(Notification::TaskDelta).map(Parcel::notification)
                }
            })
            .collect()
    }

    /// Later updates come after what is there. A reply says how things stand: a newer update must not come before it.
    fn seal(&mut self) {
        if self.latest.0.is_empty() {
            return;
        }
        for slot in &mut self.slots {
            if let Slot::Latest(key) = slot
                && let Some(update) = self.latest.0.remove(key)
            {
                *slot = Slot::Parcel(Parcel::notification(update));
            }
        }
    }

    /// Drops what can be read again later; replies stay.
    fn cut(&mut self, subscription_id: SubscriptionId, next: Seq) {
        let first = self.slots.iter().find_map(|slot| match slot {
            Slot::Parcel(Parcel::Record { subscription, record }) if *subscription == subscription_id => {
                Some(record.seq)
            }
            _ => None,
        });
        let resume_from = Seq(first.unwrap_or(next).0.saturating_sub(1));
        self.slots.retain(|slot| matches!(slot, Slot::Parcel(Parcel::Outgoing(_))));
        self.latest.0.clear();
        self.deltas.clear();
        (self.records, self.bytes) = (0, 0);
        let lagged = Notification::Lagged(Lagged { subscription_id, resume_from });
        self.slots.push_back(Slot::Parcel(Parcel::notification(lagged)));
        self.slots.push_back(Slot::Parcel(Parcel::Close));
        self.closed = true;
    }
}

/// The newer value takes the place of the older; what came to and left the inbox adds up.
fn merge(older: &mut Notification, newer: Notification) {
    match (&mut *older, newer) {
        (
            Notification::InboxUpdate(inbox),
            Notification::InboxUpdate(InboxUpdate { added, removed, count }),
        ) => {
            let came: BTreeSet<PendingId> = added.iter().map(|item| item.pending.id()).collect();
            let left: BTreeSet<PendingId> = removed.iter().copied().collect();
            inbox
                .added
                .retain(|item| !left.contains(&item.pending.id()) && !came.contains(&item.pending.id()));
            inbox.added.extend(added);
            inbox.removed.retain(|id| !left.contains(id) && !came.contains(id));
            inbox.removed.extend(removed);
            inbox.count = count;
        }
        (_, newer) => *older = newer,
    }
}
