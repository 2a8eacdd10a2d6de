//! What goes into the store, and what is told of it once it is on disk.

use abide_protocol::{
    ConversationId, TaskId, Timestamp,
    notification::{ConversationUpdate, InboxUpdate},
    record::{NewRecord, Record},
    task::AgentTask,
};
use std::sync::Arc;

/// Called on the writer thread with all that is committed, in seq order, before any appender of that transaction is answered.
/// Must not block.
pub type Sink = Box<dyn FnMut(&Committed) + Send>;

/// Records of one conversation, and how its tasks stand after them. All of it is stored, or nothing.
#[derive(Debug, Clone)]
pub struct Append {
    pub conversation_id: ConversationId,
    pub records: Vec<NewRecord>,
    /// The tasks that these records change.
    pub tasks: Vec<TaskProjection>,
    /// A stop or an answer: goes in even when the disk is full, out of the reserve.
    pub urgent: bool,
}

/// How a task stands.
#[derive(Debug, Clone)]
pub struct TaskProjection {
    /// Whole, with its prompt and scratchpad.
    pub task: AgentTask,
    /// When the task has to be looked at again although nothing happened.
    pub wake_at: Option<Timestamp>,
    /// A daemon that starts takes the task up: it neither waits for a person nor for a moment.
    pub needs_daemon: bool,
}

/// The state of a conversation from which a reading can begin at a task's first record.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    pub conversation_id: ConversationId,
    /// The task at whose first record the reading begins.
    pub task_id: TaskId,
    /// The number of the body's form.
    pub form: u32,
    pub body: Vec<u8>,
}

/// What a commit has changed, for one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    pub conversation_id: ConversationId,
    /// In seq order.
    pub records: Vec<Arc<Record>>,
    /// Those of the append, as lists and updates carry them.
    pub tasks: Vec<Arc<AgentTask>>,
    /// If something came to or left the inbox.
    pub inbox: Option<InboxUpdate>,
    /// If the conversation looks different now.
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

/// Whether there is room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorageState {
    /// The disk is full: appends wait for room, except for urgent ones.
    pub full: bool,
}
