use crate::{ConversationId, TaskId};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListWorktreesParams {
    /// Only the one that is named so; see [`WorktreeParams`].
    pub worktree: Option<String>,
}

/// Those of the oldest conversations first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListWorktreesReply {
    pub worktrees: Vec<Worktree>,
}

/// A git worktree that was made for a conversation, or for a sub-task of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Worktree {
    pub conversation_id: ConversationId,
    /// The sub-task that works there; absent: the root tasks of the conversation.
    pub task_id: Option<TaskId>,
    /// Absolute path.
    pub path: String,
    pub branch: String,
    /// The work tree of which it was made. Absolute path.
    pub repository: String,
    /// Files that are changed or new since the last commit.
    pub files: u64,
    /// Commits that no other branch has.
    pub commits: u64,
    /// Why the two before are not known.
    pub problem: Option<String>,
}

/// Names a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeParams {
    /// Its branch, or the id of the conversation or of a task that works there, as in
    /// [`TaskParams`](super::task::TaskParams).
    pub worktree: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoveWorktreeReply {
    /// As it was.
    pub worktree: Worktree,
}
