//! A thread of messages with its workspace, mode, model and persona.

use crate::{
    ConversationId, TaskId, Timestamp,
    memory::MemoryUse,
    task::{AgentTask, EndReason, Incomplete, Mode, Status},
};
use serde::{Deserialize, Serialize};

/// A conversation as clients see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    pub id: ConversationId,
    pub title: String,
    /// Absolute path of the folder that tools work in.
    pub workspace: String,
    pub mode: Option<Mode>,
    /// `provider/model`.
    pub model: Option<String>,
    pub persona: Option<String>,
    pub created_at: Timestamp,
    /// When something last happened in it. A change of title, workspace, mode, model or persona does not
    /// count.
    pub updated_at: Timestamp,
    pub archived: bool,
    /// It gives no desktop notifications.
    pub muted: bool,
    pub memory: MemoryUse,
    /// Messages that no client has marked as read.
    pub unread: u64,
    /// The newest root task.
    pub task: Option<LatestTask>,
}

/// The newest root task of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LatestTask {
    pub id: TaskId,
    pub status: Status,
    /// Once it has ended.
    pub end_reason: Option<EndReason>,
    pub incomplete: Option<Incomplete>,
}

impl LatestTask {
    /// For people: how it ended, or where it stands.
    #[must_use]
    pub const fn words(&self) -> &'static str {
        match (self.incomplete, self.end_reason) {
            (Some(incomplete), _) => incomplete.words(),
            (None, Some(reason)) => reason.words(),
            (None, None) => self.status.name(),
        }
    }

    /// The task ended as completed, and its reply is complete.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        matches!((self.status, self.end_reason), (Status::Completed, Some(EndReason::Completed) | None))
            && self.incomplete.is_none()
    }
}

impl From<&AgentTask> for LatestTask {
    fn from(task: &AgentTask) -> Self {
        let AgentTask { id, status, end_reason, incomplete, .. } = *task;
        Self { id, status, end_reason, incomplete }
    }
}
