//! Checkpoints: keeps what the files of a work tree were, shows what a task has changed, and takes it back.
//!
//! A checkpoint is a commit of the whole work tree, untracked files included and ignored ones not, on a private reference
//! (`refs/abide/CONVERSATION/TASK/…`) of a repository of our own, which borrows the objects of the workspace's. A folder that is in no
//! repository is a work tree of its own, if it is not too large. Nothing is written to the person's repository. The content is that of the files, byte for byte: no filter and no conversion of line ends applies, in neither
//! direction ([`git`] says how). What is too large or cannot be read is left out by name, as is a repository within the work tree.
//!
//! Everything here is blocking, and waits for whatever else is done with the same work tree.

mod changes;
mod diff_text;
mod error;
mod forget;
mod found;
pub(crate) mod git;
mod head;
mod hunk;
mod index;
mod plain;
mod plan;
mod repository;
mod restore;
mod take;
mod undo;

pub use changes::Changes;
pub use error::NoCheckpoint;
pub use take::{Take, Taken};
pub use undo::UndoOrder;

use crate::{guard::Listings, run::CallRunner};
use abide_protocol::{
    TaskId, Timestamp,
    checkpoint::{SavedTree, Window},
};
use plan::{Change, Entry, FilePath};
use repository::Repository;
pub(crate) use repository::git_for;
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Of files that have changed since the checkpoint before, so many bytes are kept. The largest files are left out first.
const MAX_NEW: u64 = 200 << 20;

/// So many edits of tasks in one work tree are remembered.
const MAX_EDITED: usize = 1024;

/// So many checkpoints and undos are made at the same time.
const AT_ONCE: usize = 4;

/// For how long [`Checkpoints::why_not`] does not look again.
const RECENT: Duration = Duration::from_secs(60);

/// Where files are kept, and of which folders.
#[derive(Debug, Clone)]
pub struct CheckpointFolders {
    /// Our own git directories, one for each work tree.
    pub kept: PathBuf,
    /// Abide's scratch workspaces. They need no repository of the person's.
    pub scratch: PathBuf,
}

/// A task's workspace.
#[derive(Debug, Clone)]
pub struct Place {
    /// An absolute path.
    pub workspace: String,
    /// The task's environment, of which git gets a small part.
    pub environment: BTreeMap<String, String>,
    /// Ends what is under way, as a failure.
    pub cancel: CancellationToken,
}

/// Keeps, shows and restores the files of work trees. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    runner: Arc<CallRunner>,
    folders: Arc<CheckpointFolders>,
    /// Those of the work trees, by our folder of each.
    locks: Arc<Mutex<HashMap<String, Arc<Mutex<Index>>>>>,
    turns: Arc<Semaphore>,
    /// By workspace.
    seen: Arc<Mutex<HashMap<String, Seen>>>,
}

/// Whether a checkpoint could be made of a workspace, and when that was found out.
#[derive(Debug)]
struct Seen {
    at: Instant,
    why_not: Option<String>,
}

/// What is known of our index of a work tree. Whoever uses the index holds its lock.
#[derive(Debug, Default)]
struct Index {
    /// The tree that it was written as, if nothing has changed it since.
    tree: Option<String>,
    /// By task, the number of the look at its workspace's folders before its newest checkpoint.
    looked: HashMap<TaskId, u64>,
    /// By task, while calls run that may change something.
    gone: HashMap<TaskId, Gone>,
    /// What edits of root tasks have made, the newest last.
    edited: VecDeque<Edited>,
}

/// A file as an edit has left it.
#[derive(Debug)]
struct Edited {
    task: TaskId,
    at: Timestamp,
    path: FilePath,
    after: Option<Entry>,
}

impl Index {
    fn edited(&mut self, edited: Edited) {
        if self.edited.len() >= MAX_EDITED {
            self.edited.pop_front();
        }
        self.edited.push_back(edited);
    }

    /// Whether the file is as another task's edit has left it in this window, while a command of this task may only have waited.
    fn is_anothers(&self, task: TaskId, window: Window, change: &Change) -> bool {
        let is_it = |edited: &Edited| {
            edited.task != task
                && (window.from..=window.until).contains(&edited.at)
                && (&edited.path, &edited.after) == (&change.path, &change.after)
        };
        self.edited.iter().any(is_it)
    }
}

/// What was there when the first call after a checkpoint began: others have removed the rest.
#[derive(Debug)]
struct Gone {
    /// The commit of that checkpoint.
    since: String,
    /// When the call began.
    at: Timestamp,
    /// Of the workspace's folders that have changed since the checkpoint.
    listings: Listings,
}

impl Checkpoints {
    pub(crate) fn new(runner: Arc<CallRunner>, folders: CheckpointFolders) -> Self {
        Self {
            runner,
            folders: Arc::new(folders),
            locks: Arc::default(),
            turns: Arc::new(Semaphore::new(AT_ONCE)),
            seen: Arc::default(),
        }
    }

    /// A turn to work on files: each takes a thread, processes and their pipes, and after a start all tasks may want one at the same time.
    /// Resolves in the order of the calls.
    pub async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        // It is never closed.
        Arc::clone(&self.turns).acquire_owned().await.ok()
    }

    /// Whether a checkpoint of this workspace can be made, so that what is done there can be taken back.
    ///
    /// # Errors
    /// None can be made, and why.
    pub fn can(&self, place: &Place) -> Result<(), NoCheckpoint> {
        self.repository(place, None)?.refuse_ignored()
    }

    /// Why no checkpoint can be made here, in words; `None` if one can. For a minute it is not looked at again: git takes longer
    /// than most commands. If it has become impossible meanwhile, the record of the checkpoint says so.
    pub(crate) fn why_not(&self, place: &Place) -> Option<String> {
        let known = |seen: &HashMap<String, Seen>| {
            seen.get(&place.workspace)
                .filter(|seen| seen.at.elapsed() < RECENT)
                .map(|seen| seen.why_not.clone())
        };
        if let Some(why_not) = known(&self.seen.lock().unwrap_or_else(PoisonError::into_inner)) {
            return why_not;
        }
        let why_not = self.can(place).err().map(|error| error.to_string());
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|_, seen| seen.at.elapsed() < RECENT);
        seen.insert(place.workspace.clone(), Seen { at: Instant::now(), why_not: why_not.clone() });
        why_not
    }

    /// Where the files of a workspace are kept; those of a task stay where this checkpoint of it is, whatever becomes of the person's
    /// repository.
    fn repository<'a>(
        &'a self,
        place: &'a Place,
        earlier: Option<&SavedTree>,
    ) -> Result<Repository<'a>, NoCheckpoint> {
        Repository::open(&self.runner, &self.folders, place, earlier)
    }

    /// The lock of a repository's index.
    fn index(&self, repository: &Repository<'_>) -> Arc<Mutex<Index>> {
        self.work_tree_lock(&repository.folder)
    }

    fn work_tree_lock(&self, folder: &str) -> Arc<Mutex<Index>> {
        let mut all = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(folder.to_owned()).or_default())
    }
}
