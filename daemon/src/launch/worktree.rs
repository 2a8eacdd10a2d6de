//! A conversation's own git worktree.

use super::{LaunchError, Launcher};
use abide_protocol::{ConversationId, method::task::OwnWorktree};
use abide_tools::{NewWorktree, Place};
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

impl Launcher {
    /// Makes a worktree for a conversation that does not exist yet, of the work tree around this folder.
    /// Returns its workspace.
    ///
    /// # Errors
    /// It cannot be made; nothing of it is left.
    pub async fn worktree(
        &self,
        conversation: ConversationId,
        named: &str,
        wanted: OwnWorktree,
        environment: BTreeMap<String, String>,
    ) -> Result<String, LaunchError> {
        let catalog = self.settings.now().await;
        let copy = catalog.config().worktree.copy.clone();
        let workspace = self.workspace(conversation, Some(named)).await?;
        let new = NewWorktree { conversation, task: None, branch: wanted.branch, copy };
        let place = Place { workspace, environment, cancel: CancellationToken::new() };
        let worktrees = self.tools.worktrees().clone();
        let made = tokio::task::spawn_blocking(move || worktrees.make(&place, new));
        let (_, workspace) = made.await.map_err(|_| LaunchError::ShuttingDown)??;
        Ok(workspace)
    }
}
