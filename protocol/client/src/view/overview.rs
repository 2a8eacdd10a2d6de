use super::{change::OverviewChange, conversation::Connection, inbox::Inbox};
use crate::Update;
use abide_protocol::{
    ConversationId, TaskId,
    conversation::Conversation,
    notification::{DaemonUpdate, Notification, Snapshot},
    task::AgentTask,
};
use std::{cmp::Reverse, collections::BTreeMap};

/// All conversations, the tasks that have not ended, and the inbox, each in its latest state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverviewView {
    conversations: BTreeMap<ConversationId, Conversation>,
    tasks: BTreeMap<TaskId, AgentTask>,
    inbox: Inbox,
    daemon: DaemonUpdate,
    connection: Connection,
}

impl Default for OverviewView {
    fn default() -> Self {
        Self {
            conversations: BTreeMap::new(),
            tasks: BTreeMap::new(),
            inbox: Inbox::default(),
            daemon: DaemonUpdate::default(),
            connection: Connection::Opening,
        }
    }
}

impl OverviewView {
    /// Last changed first.
    #[must_use]
    pub fn conversations(&self) -> Vec<&Conversation> {
        let mut sorted: Vec<_> = self.conversations.values().collect();
        sorted.sort_by_key(|c| (Reverse(c.updated_at), c.id));
        sorted
    }

    #[must_use]
    pub fn conversation(&self, id: ConversationId) -> Option<&Conversation> {
        self.conversations.get(&id)
    }

    /// Those that have not ended, in the order of their ids, oldest first.
    pub fn tasks(&self) -> impl DoubleEndedIterator<Item = &AgentTask> + ExactSizeIterator {
        self.tasks.values()
    }

    #[must_use]
    pub fn task(&self, id: TaskId) -> Option<&AgentTask> {
        self.tasks.get(&id)
    }

    #[must_use]
    pub const fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// The tasks that go on only when a person resumes them. The inbox has no item of them.
    pub fn held(&self) -> impl Iterator<Item = &AgentTask> {
        self.tasks().filter(|task| task.parent_id.is_none() && task.is_held())
    }

    /// How much waits for a person.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.inbox.items().len() + self.held().count()
    }

    #[must_use]
    pub const fn daemon(&self) -> DaemonUpdate {
        self.daemon
    }

    #[must_use]
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Folds an update in; returns what it changed.
    pub fn apply(&mut self, update: Update) -> Vec<OverviewChange> {
        match update {
            Update::Snapshot(snapshot) | Update::Reconnected(snapshot) => {
                *self = Self::from(*snapshot);
                vec![OverviewChange::Reset]
            }
            Update::Notification(notification) => self.notice(notification).into_iter().collect(),
            Update::Disconnected { reason } => self.set_connection(Connection::Lost { reason }),
            Update::Ended { reason } => self.set_connection(Connection::Ended { reason }),
        }
    }

    fn set_connection(&mut self, connection: Connection) -> Vec<OverviewChange> {
        let changed = self.connection != connection;
        self.connection = connection;
        changed.then_some(OverviewChange::Connection).into_iter().collect()
    }

    fn notice(&mut self, notification: Notification) -> Option<OverviewChange> {
        match notification {
            Notification::ConversationUpdate(n) => {
                let id = n.conversation_id;
                set(&mut self.conversations, id, n.conversation).then_some(OverviewChange::Conversation(id))
            }
            Notification::TaskUpdate(n) => {
                let id = n.task.id;
                let task = Some(n.task).filter(|task| !task.status.has_ended());
                set(&mut self.tasks, id, task).then_some(OverviewChange::Task(id))
            }
            Notification::InboxUpdate(n) => self.inbox.apply(n, |_| true).then_some(OverviewChange::Inbox),
            Notification::DaemonUpdate(daemon) => {
                let changed = self.daemon != daemon;
                self.daemon = daemon;
                changed.then_some(OverviewChange::Daemon)
            }
            Notification::TaskMessage(_)
            | Notification::TaskEvent(_)
            | Notification::TaskDelta(_)
            | Notification::MemoryForgotten(_)
            | Notification::Lagged(_) => None,
        }
    }
}

impl From<Snapshot> for OverviewView {
    fn from(snapshot: Snapshot) -> Self {
        let mut inbox = Inbox::default();
        inbox.replace(snapshot.inbox);
        let is_live = |task: &AgentTask| !task.status.has_ended();
        Self {
            conversations: snapshot.conversations.into_iter().map(|c| (c.id, c)).collect(),
            tasks: snapshot.tasks.into_iter().filter(is_live).map(|task| (task.id, task)).collect(),
            inbox,
            daemon: snapshot.daemon,
            connection: Connection::Live,
        }
    }
}

/// Sets or removes a value; returns whether that changed anything.
fn set<K: Ord, V: PartialEq>(map: &mut BTreeMap<K, V>, key: K, value: Option<V>) -> bool {
    if map.get(&key) == value.as_ref() {
        return false;
    }
    match value {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    };
    true
}

#[cfg(test)]
mod tests;
