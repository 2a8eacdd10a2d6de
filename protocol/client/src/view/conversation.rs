use super::{
    change::Change,
    entry::Entry,
    inbox::Inbox,
    output::{Attempts, LiveItem, Output, Piece},
};
use crate::Update;
use abide_protocol::{
    CallId, ConversationId, RecordId, Seq, TaskId,
    conversation::Conversation,
    event::EventKind,
    memory::Snippet,
    message::{CallView, Message, MessageKind},
    method::conversation::ListMessagesReply,
    notification::{DaemonUpdate, DeltaItem, Notification, Snapshot},
    task::{AgentTask, CallState},
};
use std::collections::{BTreeMap, HashMap};

/// A conversation as a person sees it: of its own scope without the work of its sub-tasks, of the scope
/// `tree` with it; or one task of it (scope `task`). Updates of other conversations are ignored, so the scope
/// `all` may be folded too, which has the whole tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationView {
    id: ConversationId,
    cursor: Seq,
    read_to: Seq,
    timeline: BTreeMap<Seq, Entry>,
    calls: HashMap<CallId, Seq>,
    pub(super) output: Output,
    pub(super) tasks: BTreeMap<TaskId, AgentTask>,
    inbox: Inbox,
    about: About,
    daemon: DaemonUpdate,
    connection: Connection,
}

/// What is known of the conversation itself.
#[derive(Debug, Clone, PartialEq, Eq)]
enum About {
    Unknown,
    Known(Box<Conversation>),
    Deleted,
}

/// Whether the view is up to date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// No snapshot has come yet.
    Opening,
    Live,
    Lost {
        reason: String,
    },
    Ended {
        reason: String,
    },
}

impl ConversationView {
    #[must_use]
    pub fn new(id: ConversationId) -> Self {
        Self {
            id,
            cursor: Seq(0),
            read_to: Seq(0),
            timeline: BTreeMap::new(),
            calls: HashMap::new(),
            output: Output::default(),
            tasks: BTreeMap::new(),
            inbox: Inbox::default(),
            about: About::Unknown,
            daemon: DaemonUpdate::default(),
            connection: Connection::Opening,
        }
    }

    #[must_use]
    pub const fn id(&self) -> ConversationId {
        self.id
    }

    /// The last record that is folded in, or the snapshot's `seq`.
    #[must_use]
    pub const fn cursor(&self) -> Seq {
        self.cursor
    }

    /// Oldest first.
    pub fn timeline(&self) -> impl DoubleEndedIterator<Item = &Entry> + ExactSizeIterator {
        self.timeline.values()
    }

    #[must_use]
    pub fn entry(&self, seq: Seq) -> Option<&Entry> {
        self.timeline.get(&seq)
    }

    #[must_use]
    pub fn call(&self, id: CallId) -> Option<&CallView> {
        match self.timeline.get(self.calls.get(&id)?)? {
            Entry::Call(call) => Some(call),
            Entry::Message(_) | Entry::Event(_) => None,
        }
    }

    /// What is being written or said right now.
    pub fn live(&self) -> impl Iterator<Item = (DeltaItem, &LiveItem)> {
        self.output.iter()
    }

    #[must_use]
    pub fn live_item(&self, item: DeltaItem) -> Option<&LiveItem> {
        self.output.get(item)
    }

    /// Root tasks and sub-tasks, in the order of their ids, oldest first.
    pub fn tasks(&self) -> impl DoubleEndedIterator<Item = &AgentTask> + ExactSizeIterator {
        self.tasks.values()
    }

    #[must_use]
    pub fn task(&self, id: TaskId) -> Option<&AgentTask> {
        self.tasks.get(&id)
    }

    /// Whether a task is another one, or beneath it.
    #[must_use]
    pub fn is_within(&self, id: TaskId, top: TaskId) -> bool {
        let parent = |id: &TaskId| self.tasks.get(id).and_then(|task| task.parent_id);
        std::iter::successors(Some(id), parent).any(|id| id == top)
    }

    /// This conversation's part of the inbox.
    #[must_use]
    pub const fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// The conversation itself, once the daemon has sent it.
    #[must_use]
    pub fn conversation(&self) -> Option<&Conversation> {
        if let About::Known(conversation) = &self.about { Some(conversation) } else { None }
    }

    #[must_use]
    pub const fn is_deleted(&self) -> bool {
        matches!(self.about, About::Deleted)
    }

    #[must_use]
    pub const fn daemon(&self) -> DaemonUpdate {
        self.daemon
    }

    #[must_use]
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Messages after the read mark, other than the person's own. Those of the first snapshot count as read.
    #[must_use]
    pub fn unread(&self) -> usize {
        let after = (std::ops::Bound::Excluded(self.read_to), std::ops::Bound::Unbounded);
        let is_unread = |entry: &&Entry| matches!(entry, Entry::Message(m) if m.is_news());
        self.timeline.range(after).map(|(_, entry)| entry).filter(is_unread).count()
    }

    pub fn mark_read(&mut self, up_to: Seq) {
        self.read_to = self.read_to.max(up_to);
    }

    /// Adds an earlier page, as `listMessages` gives it.
    pub fn add_page(&mut self, page: ListMessagesReply) -> Vec<Change> {
        let mut changes = Vec::new();
        let messages = page.messages.into_iter().map(Entry::Message);
        let calls = page.calls.into_iter().map(Entry::Call);
        for entry in messages.chain(calls).chain(page.events.into_iter().map(Entry::Event)) {
            // An entry that is here already is newer than the page's.
            if !self.timeline.contains_key(&entry.seq()) {
                self.add_entry(entry, &mut changes);
            }
        }
        changes
    }

    /// Blanks what was recalled of this record, or noted by it: the memory has forgotten it.
    fn blank(&mut self, seq: Seq) {
        for entry in self.timeline.values_mut() {
            let Entry::Event(event) = entry else { continue };
            match &mut event.kind {
                EventKind::Recalled(recalled) => {
                    recalled
                        .snippets
                        .iter_mut()
                        .filter(|snippet| snippet.seq == seq)
                        .for_each(Snippet::blank);
                }
                EventKind::Noted(noted) if event.seq == seq => noted.text.clear(),
                _ => {}
            }
        }
    }

    /// Forgets the entries before this seq.
    pub fn forget_before(&mut self, seq: Seq) {
        while let Some(first) = self.timeline.first_entry().filter(|first| *first.key() < seq) {
            if let Entry::Call(call) = first.remove() {
                self.calls.remove(&call.call_id);
            }
        }
    }

    /// Forgets the oldest entries; for views that live long and are not scrolled back.
    pub fn keep_last(&mut self, entries: usize) {
        while self.timeline.len() > entries {
            if let Some((_, Entry::Call(call))) = self.timeline.pop_first() {
                self.calls.remove(&call.call_id);
            }
        }
    }

    /// Folds an update in; returns what it changed.
    pub fn apply(&mut self, update: Update) -> Vec<Change> {
        let mut changes = Vec::new();
        match update {
            Update::Snapshot(snapshot) => self.replace(*snapshot, &mut changes),
            Update::Reconnected(snapshot) => self.reconnect(*snapshot, &mut changes),
            Update::Notification(notification) => self.notice(notification, &mut changes),
            Update::Disconnected { reason } => self.set_connection(Connection::Lost { reason }, &mut changes),
            Update::Ended { reason } => self.set_connection(Connection::Ended { reason }, &mut changes),
        }
        changes
    }

    fn set_connection(&mut self, connection: Connection, changes: &mut Vec<Change>) {
        if self.connection != connection {
            self.connection = connection;
            changes.push(Change::Connection);
        }
    }

    /// Starts again from a snapshot.
    fn replace(&mut self, mut snapshot: Snapshot, changes: &mut Vec<Change>) {
        let seen = if self.connection == Connection::Opening { snapshot.seq } else { self.read_to };
        let about = std::mem::replace(&mut self.about, About::Unknown);
        *self = Self { cursor: snapshot.seq, read_to: seen, about, ..Self::new(self.id) };
        // Records first: recorded output is not live.
        let mut ignored = Vec::new();
        let id = self.id;
        for message in std::mem::take(&mut snapshot.messages) {
            if message.conversation_id == id {
                self.add_message(message, &mut ignored);
            }
        }
        for call in std::mem::take(&mut snapshot.calls) {
            if call.conversation_id == id {
                if call.state == CallState::Finished {
                    self.output.close(DeltaItem::Call(call.call_id), Attempts::All, None, &mut ignored);
                }
                self.add_entry(Entry::Call(call), &mut ignored);
            }
        }
        for event in std::mem::take(&mut snapshot.events) {
            self.add_entry(Entry::Event(event), &mut ignored);
        }
        self.refresh(snapshot, &mut ignored);
        changes.push(Change::Reset);
    }

    /// Takes the current state from the snapshot; the missed records follow as notifications.
    fn reconnect(&mut self, snapshot: Snapshot, changes: &mut Vec<Change>) {
        self.output.retain(|item| snapshot.partials.iter().any(|partial| partial.item == item));
        self.refresh(snapshot, changes);
        changes.push(Change::Reset);
    }

    fn refresh(&mut self, snapshot: Snapshot, changes: &mut Vec<Change>) {
        let id = self.id;
        self.connection = Connection::Live;
        self.daemon = snapshot.daemon;
        if let Some(known) = snapshot.conversations.into_iter().find(|c| c.id == id) {
            self.about = About::Known(Box::new(known));
        }
        // A root task that is not among them has ended; its record follows or has come. A sub-task's may not
        // come, but the snapshot has all those of the newest root.
        self.tasks.retain(|_, task| task.parent_id.is_none());
        let tasks = snapshot.tasks.into_iter().filter(|task| task.conversation_id == id);
        self.tasks.extend(tasks.map(|task| (task.id, task)));
        self.inbox.replace(snapshot.inbox.into_iter().filter(|item| item.conversation_id == id).collect());
        for partial in snapshot.partials.iter().filter(|partial| partial.conversation_id == id) {
            let piece = Piece {
                task_id: partial.task_id,
                item: partial.item,
                attempt: partial.attempt,
                kind: partial.kind,
                offset: partial.offset,
                text: &partial.text,
            };
            self.output.add(&piece, changes);
        }
    }

    fn notice(&mut self, notification: Notification, changes: &mut Vec<Change>) {
        match notification {
            Notification::TaskMessage(n) if n.message.conversation_id == self.id => {
                if self.advance(n.seq) {
                    self.add_message(Message { seq: n.seq, ..n.message }, changes);
                }
            }
            Notification::TaskEvent(n) if n.record.conversation_id == self.id => {
                if self.advance(n.seq) {
                    self.fold_record(&n.record, changes);
                }
            }
            Notification::TaskDelta(n) if n.conversation_id == self.id => {
                let piece = Piece {
                    task_id: n.task_id,
                    item: n.item,
                    attempt: n.attempt,
                    kind: n.kind,
                    offset: n.offset,
                    text: &n.text,
                };
                self.output.add(&piece, changes);
            }
            Notification::TaskUpdate(n) if n.task.conversation_id == self.id => {
                if self.tasks.get(&n.task.id) != Some(&n.task) {
                    changes.push(Change::Task(n.task.id));
                    self.tasks.insert(n.task.id, n.task);
                }
            }
            Notification::InboxUpdate(n) => {
                if self.inbox.apply(n, |item| item.conversation_id == self.id) {
                    changes.push(Change::Inbox);
                }
            }
            Notification::ConversationUpdate(n) if n.conversation_id == self.id => match n.conversation {
                None => self.set_deleted(changes),
                Some(conversation) => {
                    if self.conversation() != Some(&conversation) {
                        self.about = About::Known(Box::new(conversation));
                        changes.push(Change::Conversation);
                    }
                }
            },
            Notification::DaemonUpdate(daemon) => {
                if self.daemon != daemon {
                    self.daemon = daemon;
                    changes.push(Change::Daemon);
                }
            }
            Notification::MemoryForgotten(n) => self.blank(n.seq),
            // Of other conversations; or `Lagged`, which comes as `Disconnected`.
            Notification::TaskMessage(_)
            | Notification::TaskEvent(_)
            | Notification::TaskDelta(_)
            | Notification::TaskUpdate(_)
            | Notification::ConversationUpdate(_)
            | Notification::Lagged(_) => {}
        }
    }

    /// Whether this record is new.
    fn advance(&mut self, seq: Seq) -> bool {
        let is_new = seq > self.cursor;
        self.cursor = self.cursor.max(seq);
        is_new
    }

    fn add_message(&mut self, message: Message, changes: &mut Vec<Change>) {
        let (id, seq): (RecordId, Seq) = (message.id, message.seq);
        self.output.close(DeltaItem::Reply(id), Attempts::All, Some(seq), changes);
        if let (MessageKind::Partial, Some(task_id)) = (message.kind, message.task_id) {
            let is_reply = |item| matches!(item, DeltaItem::Reply(_));
            self.output.close_where(task_id, Some(seq), is_reply, changes);
        }
        self.add_entry(Entry::Message(message), changes);
    }

    pub(super) fn add_entry(&mut self, entry: Entry, changes: &mut Vec<Change>) {
        let seq = entry.seq();
        if let Entry::Call(call) = &entry {
            self.calls.insert(call.call_id, seq);
        }
        self.timeline.insert(seq, entry);
        changes.push(Change::Added(seq));
    }

    pub(super) fn call_mut(&mut self, id: CallId) -> Option<&mut CallView> {
        match self.timeline.get_mut(self.calls.get(&id)?)? {
            Entry::Call(call) => Some(call),
            Entry::Message(_) | Entry::Event(_) => None,
        }
    }

    pub(super) fn set_deleted(&mut self, changes: &mut Vec<Change>) {
        if self.about != About::Deleted {
            self.about = About::Deleted;
            changes.push(Change::Conversation);
        }
    }
}
