//! The input and output of the store: appends, and the changes that are published after a commit.

use abide_protocol::{
    ConversationId, TaskId, Timestamp,
    notification::{ConversationUpdate, InboxUpdate},
    record::{NewRecord, Record},
    task::AgentTask,
};
use std::sync::Arc;

/// Called on the writer thread with each commit, in seq order, before the callers of that transaction are
/// answered. Must not block.
pub type Sink = Box<dyn FnMut(&Committed) + Send>;

/// Records of one conversation, and the projections of the tasks that they change. All are committed, or
/// none.
#[derive(Debug, Clone)]
pub struct Append {
    pub conversation_id: ConversationId,
    pub records: Vec<NewRecord>,
    /// The tasks that these records change.
    pub tasks: Vec<TaskProjection>,
    /// On a full disk the append uses the reserve and does not wait for room. For stops and answers.
    pub urgent: bool,
}

/// The state of a task after an append.
#[derive(Debug, Clone)]
pub struct TaskProjection {
    /// The whole task, with its prompt and scratchpad.
    pub task: AgentTask,
    /// The task's next wake-up time.
    pub wake_at: Option<Timestamp>,
    /// A starting daemon loads the task, because it neither waits for a person nor for a time.
    pub needs_daemon: bool,
}

/// The state of a conversation before a task's first record. A load can begin with this state, at that
/// record.
#[derive(Debug, Clone)]
pub struct HistorySnapshot {
    pub conversation_id: ConversationId,
    /// The task at whose first record the load begins.
    pub task_id: TaskId,
    /// The number of the body's form.
    pub form: u32,
    pub body: Vec<u8>,
}

/// The changes of a commit to one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    pub conversation_id: ConversationId,
    /// In seq order.
    pub records: Vec<Arc<Record>>,
    /// The tasks of the append, in the brief form of lists and updates.
    pub tasks: Vec<Arc<AgentTask>>,
    /// The items that were added to or removed from the inbox, if any.
    pub inbox: Option<InboxUpdate>,
    /// The conversation's entry in lists, if it has changed.
    pub conversation: Option<ConversationUpdate>,
}

/// The request that a client message id was used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientMessageUse {
    /// SHA-256 (hex) of the request.
    pub digest: String,
    pub task_id: TaskId,
    pub conversation_id: ConversationId,
}

/// The state of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorageState {
    /// The disk is full: appends wait for room, except for urgent ones.
    pub full: bool,
}
