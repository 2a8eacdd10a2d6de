use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetWorkspaceParams {
    /// Absolute path.
    pub workspace: String,
    /// The `PATH` of the commands; absent: the daemon's.
    pub path: Option<String>,
}

/// What tasks can do in a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkspaceReply {
    /// The folder is in a git work tree, of which a task can have a worktree of its own.
    pub is_work_tree: bool,
    /// The branch that the work tree is on.
    pub branch: Option<String>,
    /// Why what a task does here could not be undone; absent: it can be.
    pub no_undo: Option<String>,
    /// Changes of files ask, without approvals in advance.
    pub edits_ask: bool,
    /// Commands that stay in the sandbox ask, without approvals in advance.
    pub commands_ask: bool,
    /// What stays in the sandbox can be allowed in advance; if not, no sandbox of this machine suffices.
    pub can_allow: bool,
}
