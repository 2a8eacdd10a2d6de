//! Checkpoints: keeps the states of a work tree's files, shows what a task has changed, and undoes the
//! changes.
//!
//! A checkpoint is a commit of the whole work tree, with untracked files and without ignored ones, on a
//! private reference (`refs/abide/CONVERSATION/TASK/…`) of a repository of ours. Our repository borrows the
//! objects of the person's repository, to which nothing is written. A folder that is in no repository is a
//! work tree of its own, if it is not too large. Contents are kept byte for byte, without filters and without
//! conversion of line ends ([`git`] says how). Files that are too large or cannot be read are left out by
//! name, as are repositories within the work tree.
//!
//! Everything here is blocking, and waits for other work on the same work tree.

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

/// The most bytes of changed files that one checkpoint keeps. The largest files are left out first.
const MAX_NEW: u64 = 200 << 20;

/// The most edits in one work tree that are remembered.
const MAX_EDITED: usize = 1024;

/// The most checkpoints and undos at the same time.
const AT_ONCE: usize = 4;

/// How long an answer of [`Checkpoints::why_not`] holds.
const RECENT: Duration = Duration::from_secs(60);

/// The folders where files are kept, and Abide's scratch folders.
#[derive(Debug, Clone)]
pub struct CheckpointFolders {
    /// Our git directories, one for each work tree.
    pub kept: PathBuf,
    /// Abide's scratch workspaces, which need no repository of the person's.
    pub scratch: PathBuf,
}

/// A task's workspace.
#[derive(Debug, Clone)]
pub struct Place {
    /// An absolute path.
    pub workspace: String,
    /// The task's environment, of which git gets a small part.
    pub environment: BTreeMap<String, String>,
    /// Cancels the work, which then fails.
    pub cancel: CancellationToken,
}

/// Keeps, shows and restores the files of work trees. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    runner: Arc<CallRunner>,
    folders: Arc<CheckpointFolders>,
    /// The locks of the work trees, by our folder for each.
    locks: Arc<Mutex<HashMap<String, Arc<Mutex<Index>>>>>,
    turns: Arc<Semaphore>,
    /// Answers of [`Self::why_not`], by workspace.
    seen: Arc<Mutex<HashMap<String, Seen>>>,
}

/// Why no checkpoint can be made of a workspace, if none can, and when that was found out.
#[derive(Debug)]
struct Seen {
    at: Instant,
    why_not: Option<String>,
}

/// What is known about our git index of a work tree. The index is used only under this value's lock.
#[derive(Debug, Default)]
struct Index {
    /// The tree that the index was written as, if the index has not changed since.
    tree: Option<String>,
    /// By task, the number of the look at the workspace's folders before the task's newest checkpoint.
    looked: HashMap<TaskId, u64>,
    /// By task, the files that others had removed, while calls run that may change something.
    gone: HashMap<TaskId, Gone>,
    /// The files that edits of root tasks have written, the newest last.
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

    /// Whether another task's edit has left the file as it is, in this window. (A command of this task ran
    /// meanwhile, but need not have changed the file.)
    fn is_anothers(&self, task: TaskId, window: Window, change: &Change) -> bool {
        let is_it = |edited: &Edited| {
            edited.task != task
                && (window.from..=window.until).contains(&edited.at)
                && (&edited.path, &edited.after) == (&change.path, &change.after)
        };
        self.edited.iter().any(is_it)
    }
}

/// What existed when the first call after a checkpoint began. Files that were missing then, others had
/// removed.
#[derive(Debug)]
struct Gone {
    /// The commit of that checkpoint.
    since: String,
    /// When the call began.
    at: Timestamp,
    /// The contents of the workspace's folders that changed since the checkpoint.
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

    /// A turn to work on files. Such work takes a thread and processes, and after a start all tasks may want
    /// to work at once. Resolves in the order of the calls.
    pub async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        Arc::clone(&self.turns).acquire_owned().await.ok()
    }

    /// Whether a checkpoint of this workspace can be made, so that changes in it can be undone.
    ///
    /// # Errors
    /// Why no checkpoint can be made.
    pub fn can(&self, place: &Place) -> Result<(), NoCheckpoint> {
        self.repository(place, None)?.refuse_ignored()
    }

    /// Why no checkpoint of this workspace can be made, in words; `None` if one can. An answer holds for a
    /// minute, because asking git takes longer than most commands. If a checkpoint fails within that minute,
    /// its record says so.
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

    /// The repository for the files of a workspace. With an earlier checkpoint of the task it is the one that
    /// has that checkpoint, whatever has become of the person's repository.
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
