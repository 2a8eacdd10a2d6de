//! The queue of notifications and replies for one connection, from the hub and the request handlers to the
//! writer.
//!
//! The queue is bounded without making the hub wait. Deltas of one item merge; an update replaces an older
//! one of the same subject. Records are never merged: if too many are queued, the client is sent `lagged`,
//! which says where to resume, and its connection is closed. Replies are bounded by their reader: it reads no
//! request while too many replies are queued.
//!
//! A queued entry keeps its place in `slots`. Updates and deltas can still change there, so their slot holds
//! only a key, and their value is in a map. A reply fixes all updates before it (`seal`): it may contain
//! newer state than they do.

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

/// With this many queued replies, no further requests are read.
const MAX_REPLIES: usize = 64;
/// The most bytes of one item's merged deltas. Beyond that the older half is dropped; clients see the gap by
/// the offset.
const MAX_DELTA: usize = 256 * 1024;

/// An entry to write to the connection.
#[derive(Debug, Clone)]
pub enum Parcel {
    Outgoing(Box<Outgoing>),
    Record {
        subscription: SubscriptionId,
        record: Arc<Record>,
    },
    /// Closes the connection, after the entries before it are written.
    Close,
}

impl Parcel {
    fn notification(notification: Notification) -> Self {
        Self::Outgoing(Box::new(Outgoing::Notification(notification)))
    }

    /// The message to send; `None` for [`Self::Close`].
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

/// A record's only sequenced notification.
fn sequenced(subscription_id: SubscriptionId, record: &Record) -> Notification {
    match record.message() {
        Some(message) => Notification::TaskMessage(TaskMessage { subscription_id, seq: record.seq, message }),
        None => {
            Notification::TaskEvent(TaskEvent { subscription_id, seq: record.seq, record: record.clone() })
        }
    }
}

/// The subject of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Latest {
    Task(TaskId),
    Conversation(ConversationId),
    Inbox,
    Daemon,
    Forgotten(Seq),
}

impl Latest {
    fn of(notification: &Notification) -> Option<Self> {
        match notification {
            Notification::TaskUpdate(u) => Some(Self::Task(u.task.id)),
            Notification::ConversationUpdate(u) => Some(Self::Conversation(u.conversation_id)),
            Notification::InboxUpdate(_) => Some(Self::Inbox),
            Notification::DaemonUpdate(_) => Some(Self::Daemon),
            Notification::MemoryForgotten(forgotten) => Some(Self::Forgotten(forgotten.seq)),
            Notification::TaskMessage(_)
            | Notification::TaskEvent(_)
            | Notification::TaskDelta(_)
            | Notification::Lagged(_) => None,
        }
    }
}

/// Updates that replace an older one of the same subject.
#[derive(Debug, Default)]
pub(super) struct Updates(HashMap<Latest, Notification>);

impl Updates {
    /// Adds an update. Returns its subject if no update of that was queued.
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
    /// The value is in `latest`, where a newer one replaces it.
    Latest(Latest),
    /// The text is in `deltas`, where more text is appended.
    Delta(DeltaKey),
}

#[derive(Debug, Default)]
struct Queue {
    slots: VecDeque<Slot>,
    latest: Updates,
    deltas: HashMap<DeltaKey, TaskDelta>,
    records: usize,
    /// The size of the queued records.
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

    /// Queues a reply, or an error without a request. (The reader of requests waits for [`Self::replies_fit`]
    /// first.)
    pub fn send(&self, outgoing: Outgoing) {
        self.put(Parcel::Outgoing(Box::new(outgoing)));
    }

    /// Closes the connection after the queued entries are written.
    pub fn close(&self) {
        self.put(Parcel::Close);
        self.lock().closed = true;
        self.closed.notify_waiters();
    }

    /// Resolves when the outbox accepts nothing more.
    pub async fn closed(&self) {
        let closed = self.closed.notified();
        if !self.is_closed() {
            closed.await;
        }
    }

    /// Queues a record. If too many are queued, sends the client `lagged` instead, and closes its connection.
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

    /// Queues an update, which replaces an older one of the same subject.
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

    /// Queues live output, merged with queued output of the same item.
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

    /// Takes all entries; waits until there is one.
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

    /// Resolves when a record read from the store may be queued, so that the store is read at the client's
    /// pace.
    pub async fn has_room(&self) {
        self.until(|queue| queue.records < MAX_QUEUED_RECORDS / 4 && queue.bytes < MAX_QUEUED_BYTES / 4)
            .await;
    }

    /// Resolves when another request may be read: the requests of a client that reads no replies are not read
    /// either.
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

    /// Fixes the place of queued updates before an entry is added. A reply contains current state, so a newer
    /// update must not overtake it.
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

    /// Drops queued records, deltas and updates, and queues `lagged` and the close. The client can read what
    /// was dropped again. Replies and the updates that they have fixed stay.
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

/// The newer value replaces the older; the inbox's additions and removals are accumulated.
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
