//! The note of a worktree, beside its folder. The note is on disk before git begins, so a crash leaves
//! nothing unknown.

use super::NoWorktree;
use abide_protocol::{ConversationId, TaskId};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

/// The worktree's name.
const NAME: &str = "worktree.json";

/// A worktree that Abide has made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    pub conversation: ConversationId,
    /// The sub-task that works there; `None`: the root tasks of the conversation.
    pub task: Option<TaskId>,
    /// The person's work tree of which it was made.
    pub repository: PathBuf,
    /// The git folder that the two work trees share.
    pub(super) common: PathBuf,
    /// The top of the worktree.
    pub path: PathBuf,
    pub branch: String,
    /// Nobody has named the branch. It is removed with the worktree once other branches have its commits.
    pub(super) is_branch_ours: bool,
    /// The files that were copied, relative to the top.
    pub(super) copied: Vec<PathBuf>,
    pub(super) state: WorktreeState,
}

/// How far a worktree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WorktreeState {
    /// Nobody works there yet.
    Making,
    Made,
    /// The worktree is being removed: nothing would be lost.
    Removing,
}

impl Worktree {
    /// The folder in the person's work tree that this folder in the worktree stands for.
    #[must_use]
    pub fn origin(&self, folder: &str) -> Option<String> {
        let beneath = Path::new(folder).strip_prefix(&self.path).ok()?;
        let origin = self.repository.components().chain(beneath.components()).collect::<PathBuf>();
        Some(origin.to_string_lossy().into_owned())
    }

    /// The folder of the worktree and its note.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// The note in this folder. `None`: no note, or one that is not understood.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join(NAME)).ok()?).ok()
    }

    /// Writes the note with this state, whole or not at all.
    pub(super) fn note(&mut self, state: WorktreeState) -> Result<(), NoWorktree> {
        self.state = state;
        let folder = self.folder();
        let write = || -> io::Result<()> {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            let new = folder.join("worktree.new");
            let mut file =
                fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
            file.write_all(&serde_json::to_vec(self)?)?;
            file.sync_all()?;
            fs::rename(&new, folder.join(NAME))?;
            File::open(folder)?.sync_all()?;
            folder.parent().map_or(Ok(()), |above| File::open(above)?.sync_all())
        };
        write().map_err(NoWorktree::io(folder))
    }
}
