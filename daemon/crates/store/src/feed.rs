//! Which records a reader gets.

use abide_protocol::{ConversationId, TaskId};
use rusqlite::{ToSql, types::Null};

/// The subject of a subscription or a page of messages: a
/// [`Scope`](abide_protocol::method::subscription::Scope) whose task has been found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feed {
    /// No records.
    Overview,
    /// The records of all conversations.
    All,
    /// The records of a conversation and its root tasks.
    Roots(ConversationId),
    /// All records of a conversation.
    Tree(ConversationId),
    /// The records of one task.
    Task(ConversationId, TaskId),
}

impl From<ConversationId> for Feed {
    /// The feed that a conversation shows.
    fn from(id: ConversationId) -> Self {
        Self::Roots(id)
    }
}

impl Feed {
    /// The only conversation that the feed is about.
    #[must_use]
    pub const fn conversation(self) -> Option<ConversationId> {
        match self {
            Self::Overview | Self::All => None,
            Self::Roots(id) | Self::Tree(id) | Self::Task(id, _) => Some(id),
        }
    }

    /// Whether the feed has the records of this task (`None`: of the conversation itself).
    #[must_use]
    pub fn has(self, conversation: ConversationId, task: Option<TaskId>, is_sub_task: bool) -> bool {
        match self {
            Self::Overview => false,
            Self::All => true,
            Self::Roots(id) => id == conversation && !is_sub_task,
            Self::Tree(id) => id == conversation,
            Self::Task(_, id) => Some(id) == task,
        }
    }

    /// [`Self::has`] as a condition on the columns `conversation` and `task` of `records`; `?1` is its
    /// parameter.
    pub(crate) fn sql(&self) -> (&'static str, &dyn ToSql) {
        match self {
            Self::Overview => ("?1 IS NULL AND 0", &Null),
            Self::All => ("?1 IS NULL", &Null),
            Self::Roots(id) => (
                "conversation = ?1
                 AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = records.task AND t.parent IS NOT NULL)",
                &id.0,
            ),
            Self::Tree(id) => ("conversation = ?1", &id.0),
            // A task's records are found through its conversation, because there is no index by task.
            Self::Task(_, id) => {
                ("conversation = (SELECT t.conversation FROM tasks t WHERE t.id = ?1) AND task = ?1", &id.0)
            }
        }
    }
}
