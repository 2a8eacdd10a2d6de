//! The hub: distributes committed records, updates and live output to all subscriptions.
//!
//! The store publishes each commit ([`Hub::publish`]), in `seq` order, and the runner each delta
//! ([`Hub::delta`]). The hub puts them into the outboxes of the connections whose subscriptions want them,
//! and never waits: an outbox is bounded and merges or cuts what its client does not read.
//!
//! A subscription misses nothing and gets nothing twice because it joins in two steps. [`Hub::join`]
//! registers it and copies the live output under one lock; from then on new records and deltas are held for
//! it. Its connection reads older records from the store, up to a cursor. [`Subscriber::joined`] then sends
//! the held records after that cursor, and later records go straight to the outbox.

use super::{
    ends::{End, Ends},
    live::{Added, Delta, Live},
    outbox::{Outbox, Updates},
    undos::{UndoEnd, Undos},
    weight::weight,
};
use abide_protocol::{
    ConversationId, RecordId, Seq, SubscriptionId, TaskId,
    limits::MAX_QUEUED_BYTES,
    method::conversation::FocusParams,
    notification::{DaemonUpdate, MemoryForgotten, Notification, Partial, TaskDelta, TaskUpdate},
    record::Record,
    task::AgentTask,
};
use abide_store::{Committed, Feed};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;

/// The most entries held for a subscriber that still reads the store. Records beyond that it reads from the
/// store too.
pub(super) const MAX_HELD: usize = 1024;

/// All subscribers and all live output. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Hub {
    inner: Arc<Mutex<Inner>>,
    ends: Ends,
    undos: Undos,
}

#[derive(Debug, Default)]
struct Inner {
    subscribers: BTreeMap<u64, Entry>,
    live: Live,
    daemon: DaemonUpdate,
    focused: watch::Sender<Focused>,
    next: u64,
}

/// Names a client that reports what it shows, as long as it is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Viewer(pub(crate) u64);

/// What is shown by the clients that report it (`focus`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Focused(BTreeMap<Viewer, FocusParams>);

impl Focused {
    /// Whether the client is connected.
    #[must_use]
    pub fn has(&self, viewer: Viewer) -> bool {
        self.0.contains_key(&viewer)
    }

    /// Whether a client shows the conversation.
    #[must_use]
    pub fn shows(&self, conversation: ConversationId) -> bool {
        self.0.values().any(|shown| shown.conversation_id == Some(conversation))
    }

    /// The clients that show the conversation's questions and approvals: those that show the conversation,
    /// and those that show the inbox.
    pub fn viewers_of_waiting(&self, conversation: ConversationId) -> impl Iterator<Item = Viewer> {
        let shows = move |shown: &FocusParams| shown.inbox || shown.conversation_id == Some(conversation);
        self.0.iter().filter(move |(_, shown)| shows(shown)).map(|(viewer, _)| *viewer)
    }

    /// Whether a client shows the conversation's questions and approvals.
    #[must_use]
    pub fn shows_waiting(&self, conversation: ConversationId) -> bool {
        self.viewers_of_waiting(conversation).next().is_some()
    }

    pub(crate) fn set(&mut self, viewer: Viewer, shown: FocusParams) {
        self.0.insert(viewer, shown);
    }

    pub(crate) fn remove(&mut self, viewer: Viewer) {
        self.0.remove(&viewer);
    }
}

/// A subscription.
#[derive(Debug)]
struct Entry {
    id: SubscriptionId,
    feed: Feed,
    outbox: Outbox,
    state: SubscriptionState,
}

#[derive(Debug)]
enum SubscriptionState {
    /// The subscriber still reads the store. New records and deltas are held in order.
    Joining {
        held: Vec<Held>,
        /// The size of the held records.
        bytes: usize,
        updates: Updates,
        /// The held entries were dropped because they were too many. The subscriber has to read the store
        /// again.
        overflowed: bool,
    },
    /// New records and deltas go to the outbox. Records up to `cursor` were sent.
    Joined { cursor: Seq },
}

#[derive(Debug)]
enum Held {
    Record(Arc<Record>),
    Delta(TaskDelta),
}

impl Entry {
    fn wants_updates(&self, conversation: ConversationId) -> bool {
        self.feed.conversation().is_none_or(|id| id == conversation)
    }

    /// Lists have root tasks only; other views show the tree.
    fn wants_task(&self, task: &AgentTask) -> bool {
        self.wants_updates(task.conversation_id) && (self.feed != Feed::Overview || task.parent_id.is_none())
    }

    fn record(&mut self, record: &Arc<Record>) {
        match &mut self.state {
            SubscriptionState::Joining { held, bytes, overflowed, .. } => {
                if held.len() < MAX_HELD && *bytes < MAX_QUEUED_BYTES / 2 {
                    *bytes += weight(record);
                    held.push(Held::Record(record.clone()));
                } else {
                    held.clear();
                    *bytes = 0;
                    *overflowed = true;
                }
            }
            SubscriptionState::Joined { cursor } => {
                if record.seq > *cursor {
                    *cursor = record.seq;
                    self.outbox.record(self.id, record.clone());
                }
            }
        }
    }

    fn latest(&mut self, notification: &Notification) {
        match &mut self.state {
            SubscriptionState::Joining { updates, .. } => drop(updates.add(notification.clone())),
            SubscriptionState::Joined { .. } => self.outbox.latest(notification.clone()),
        }
    }

    fn delta(&mut self, delta: &Delta, offset: u64) {
        let delta = TaskDelta {
            subscription_id: self.id,
            conversation_id: delta.conversation,
            task_id: delta.task,
            item: delta.item,
            attempt: delta.attempt,
            kind: delta.kind,
            offset,
            text: delta.text.clone(),
        };
        match &mut self.state {
            SubscriptionState::Joining { held, .. } if held.len() < MAX_HELD => held.push(Held::Delta(delta)),
            SubscriptionState::Joining { .. } => {}
            SubscriptionState::Joined { .. } => self.outbox.delta(delta),
        }
    }
}

impl Hub {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes a commit. Called in `seq` order; never waits.
    pub fn publish(&self, committed: &Committed) {
        self.ends.publish(committed);
        self.undos.publish(committed);
        let mut inner = self.lock();
        let inner = &mut *inner;
        // A commit has the tasks of its records.
        let is_sub_task = |id: TaskId| committed.tasks.iter().any(|t| t.id == id && t.parent_id.is_some());
        for record in &committed.records {
            let is_sub_task = record.task_id.is_some_and(is_sub_task);
            inner.live.record(record, is_sub_task);
            let wants = |e: &&mut Entry| e.feed.has(record.conversation_id, record.task_id, is_sub_task);
            for entry in inner.subscribers.values_mut().filter(wants) {
                entry.record(record);
            }
        }
        for task in &committed.tasks {
            let update = Notification::TaskUpdate(TaskUpdate { task: (**task).clone() });
            for entry in inner.subscribers.values_mut().filter(|e| e.wants_task(task)) {
                entry.latest(&update);
            }
        }
        let inbox = committed.inbox.iter().cloned().map(Notification::InboxUpdate);
        let conversation = committed.conversation.iter().cloned().map(Notification::ConversationUpdate);
        for update in inbox.chain(conversation) {
            let wanting = |e: &&mut Entry| e.wants_updates(committed.conversation_id);
            for entry in inner.subscribers.values_mut().filter(wanting) {
                entry.latest(&update);
            }
        }
    }

    /// Watches for the end of a task.
    #[must_use]
    pub fn end_of(&self, task: TaskId) -> End {
        self.ends.of(task)
    }

    /// Watches for the end of an undo that has not begun.
    #[must_use]
    pub fn end_of_undo(&self, undo: RecordId) -> UndoEnd {
        self.undos.of(undo)
    }

    /// Changes with each record of a checkpoint or of an undo's end.
    #[must_use]
    pub fn work_on_files(&self) -> watch::Receiver<Option<ConversationId>> {
        self.undos.worked()
    }

    /// The number of those who watch for the end of a task.
    #[cfg(test)]
    pub(crate) fn waits(&self) -> usize {
        self.ends.waiting()
    }

    /// Publishes live output.
    pub fn delta(&self, delta: &Delta) {
        if delta.text.is_empty() {
            return;
        }
        let mut inner = self.lock();
        let Some(Added { offset, is_sub_task }) = inner.live.add(delta) else { return };
        let wants = |e: &&mut Entry| e.feed.has(delta.conversation, Some(delta.task), is_sub_task);
        for entry in inner.subscribers.values_mut().filter(wants) {
            entry.delta(delta, offset);
        }
    }

    /// The text already shown of a reply that is not recorded.
    #[must_use]
    pub fn shown(&self, item: RecordId) -> String {
        self.lock().live.shown(item)
    }

    /// Changes the daemon's state and publishes it.
    pub fn daemon(&self, update: impl FnOnce(&mut DaemonUpdate)) {
        let mut inner = self.lock();
        let before = inner.daemon;
        update(&mut inner.daemon);
        let now = inner.daemon;
        if now != before {
            for entry in inner.subscribers.values_mut() {
                entry.latest(&Notification::DaemonUpdate(now));
            }
        }
    }

    /// Tells each subscriber that this record is forgotten.
    pub fn forgotten(&self, seq: Seq) {
        for entry in self.lock().subscribers.values_mut() {
            entry.latest(&Notification::MemoryForgotten(MemoryForgotten { seq }));
        }
    }

    #[must_use]
    pub fn daemon_state(&self) -> DaemonUpdate {
        self.lock().daemon
    }

    /// Registers a subscriber and reads the live output at the same moment, so that it misses nothing.
    #[must_use]
    pub fn join(&self, id: SubscriptionId, feed: Feed, outbox: Outbox) -> (Subscriber, Vec<Partial>) {
        let mut inner = self.lock();
        let key = inner.next;
        inner.next += 1;
        let state = SubscriptionState::Joining {
            held: Vec::new(),
            bytes: 0,
            updates: Updates::default(),
            overflowed: false,
        };
        inner.subscribers.insert(key, Entry { id, feed, outbox, state });
        let partials = inner.live.partials(feed);
        (Subscriber { hub: self.clone(), key }, partials)
    }

    /// The `partials` whose item has no record yet.
    #[must_use]
    pub fn still_live(&self, mut partials: Vec<Partial>) -> Vec<Partial> {
        let inner = self.lock();
        partials.retain(|partial| inner.live.contains(partial.item));
        partials
    }

    /// Notes what a client shows, until the returned value is dropped. Desktop notifications about it are
    /// left out.
    #[must_use]
    pub fn focus(&self, shown: FocusParams) -> Focus {
        let mut inner = self.lock();
        let viewer = Viewer(inner.next);
        inner.next += 1;
        inner.focused.send_modify(|focused| focused.set(viewer, shown));
        Focus { hub: self.clone(), viewer }
    }

    /// Watches what clients show.
    #[must_use]
    pub fn focused(&self) -> watch::Receiver<Focused> {
        self.lock().focused.subscribe()
    }
}

/// A registered subscriber; removed when dropped.
#[derive(Debug)]
pub struct Subscriber {
    hub: Hub,
    key: u64,
}

impl Subscriber {
    /// Ends the joining: sends the held records after `cursor` (earlier ones were read from the store), the
    /// held deltas and updates.
    ///
    /// `false`: held entries were dropped because they were too many. Read the store from `cursor` on and
    /// call this again.
    #[must_use]
    pub fn joined(&self, cursor: Seq) -> bool {
        let mut inner = self.hub.lock();
        let Some(entry) = inner.subscribers.get_mut(&self.key) else { return true };
        let SubscriptionState::Joining { held, bytes, updates, overflowed } = &mut entry.state else {
            return true;
        };
        let held = std::mem::take(held);
        *bytes = 0;
        if std::mem::take(overflowed) {
            return false;
        }
        let updates = std::mem::take(updates);
        entry.state = SubscriptionState::Joined { cursor };
        for one in held {
            match one {
                Held::Record(record) => entry.record(&record),
                Held::Delta(delta) => entry.outbox.delta(delta),
            }
        }
        for update in updates.into_values() {
            entry.outbox.latest(update);
        }
        true
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.hub.lock().subscribers.remove(&self.key);
    }
}

/// What a client shows; ends when dropped.
#[derive(Debug)]
pub struct Focus {
    hub: Hub,
    viewer: Viewer,
}

impl Focus {
    /// It shows this now.
    pub fn set(&self, shown: FocusParams) {
        self.hub.lock().focused.send_modify(|focused| focused.set(self.viewer, shown));
    }
}

impl Drop for Focus {
    fn drop(&mut self) {
        self.hub.lock().focused.send_modify(|focused| focused.remove(self.viewer));
    }
}
