//! A conversation's workspace folder.

use super::{LaunchError, Launcher};
use abide_host::home::create_private_dir;
use abide_protocol::ConversationId;
use std::path::{Path, PathBuf};

impl Launcher {
    /// The named folder, which must exist, or a new private folder of the conversation.
    ///
    /// # Errors
    /// The named folder cannot be used, or the private one cannot be created.
    pub async fn workspace(&self, id: ConversationId, named: Option<&str>) -> Result<String, LaunchError> {
        let scratch = self.scratch(id);
        let named = named.map(str::to_owned);
        let found = tokio::task::spawn_blocking(move || match named {
            Some(path) => existing_folder(&path),
            None => {
                create_private_dir(&scratch).map_err(LaunchError::Scratch)?;
                existing_folder(&scratch.to_string_lossy())
            }
        });
        found.await.unwrap_or(Err(LaunchError::ShuttingDown))
    }

    /// Removes the private folder, if it is empty, or the worktree of a conversation that was not created
    /// after all.
    pub async fn remove_own(&self, id: ConversationId) {
        let (scratch, worktrees) = (self.scratch(id), self.tools.worktrees().clone());
        let remove = move || {
            // The folder may not exist.
            let _ = std::fs::remove_dir(scratch);
            for worktree in worktrees.of(id) {
                if let Err(error) = worktrees.remove(&worktree) {
                    tracing::warn!("a worktree that nobody uses stays: {error}");
                }
            }
        };
        let _ = tokio::task::spawn_blocking(remove).await;
    }

    fn scratch(&self, id: ConversationId) -> PathBuf {
        self.home.scratch_dir().join(id.to_string())
    }
}

fn existing_folder(path: &str) -> Result<String, LaunchError> {
    let path = path.to_owned();
    if !Path::new(&path).is_absolute() {
        return Err(LaunchError::RelativeWorkspace { path });
    }
    let real = match std::fs::canonicalize(&path) {
        Ok(real) => real,
        Err(source) => return Err(LaunchError::UnusableWorkspace { path, source }),
    };
    if !real.is_dir() {
        return Err(LaunchError::NoFolder { path });
    }
    real.into_os_string().into_string().map_err(|_| LaunchError::NotUtf8 { path })
}
