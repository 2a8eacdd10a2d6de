//! Makes a checkpoint.

use super::{
    Checkpoints, Edited, Gone, Index, NoCheckpoint, Place,
    found::Found,
    plan::{Author, Change, Entry},
    repository::{Repository, id},
};
use crate::{edit::hash, guard::Listing, workspace::MAX_FILE};
use abide_fail_point::{Point, pass};
use abide_protocol::{
    ConversationId, TaskId, Timestamp,
    checkpoint::{Ran, SavedTree, TakenCheckpoint, Window},
    record::EditHashes,
};
use rustix::fs::{Mode, OFlags, ResolveFlags, Stat, openat2};
use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read as _},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::PoisonError,
};

/// How much a file's time may be behind the clock, in ms: file times are those of the kernel's last tick.
const TICK: i64 = 12;

/// A checkpoint to make.
#[derive(Debug, Clone)]
pub struct Take {
    pub conversation: ConversationId,
    pub task: TaskId,
    /// The task's checkpoint before. Absent: this is the first, before anything is changed.
    pub previous: Option<SavedTree>,
    /// The calls since then that may have changed files. Absent: all changes are by others.
    pub ran: Option<Ran>,
    /// For the commit's message.
    pub label: String,
}

/// The work tree compared with the checkpoint before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    Unchanged,
    Changed(TakenCheckpoint),
}

impl Checkpoints {
    /// Makes a checkpoint, if something has changed since the checkpoint before.
    ///
    /// # Errors
    /// Why no checkpoint can be made.
    pub fn take(&self, place: &Place, take: &Take) -> Result<Taken, NoCheckpoint> {
        let repository = self.repository(place, take.previous.as_ref())?;
        if take.previous.is_none() {
            repository.refuse_ignored()?;
        }
        let index = self.index(&repository);
        let mut index = index.lock().unwrap_or_else(PoisonError::into_inner);
        let looked = self.look_at_folders(&repository);
        let taken = repository.take(&mut index, take)?;
        index.gone.remove(&take.task);
        index.looked.insert(take.task, looked);
        Ok(taken)
    }

    /// Notes which files exist before the first call that may change something; `at` is when the call
    /// started. A removed file has no time, and its folder's time soon tells of another change.
    ///
    /// # Errors
    /// Why it cannot be found out.
    pub fn look(
        &self,
        place: &Place,
        task: TaskId,
        newest: &SavedTree,
        at: Timestamp,
    ) -> Result<(), NoCheckpoint> {
        let repository = self.repository(place, Some(newest))?;
        let index = self.index(&repository);
        let mut index = index.lock().unwrap_or_else(PoisonError::into_inner);
        if index.gone.get(&task).is_none_or(|gone| gone.since != newest.commit) {
            self.look_at_folders(&repository);
            let since = index.looked.get(&task).copied().unwrap_or(0);
            let tree = self.runner.guard.tree(&repository.workspace());
            let listings = tree.lock().unwrap_or_else(PoisonError::into_inner).listings_since(since);
            index.gone.insert(task, Gone { since: newest.commit.clone(), at, listings });
        }
        Ok(())
    }

    /// Looks at the folders of the workspace. Returns the number of the look.
    fn look_at_folders(&self, repository: &Repository<'_>) -> u64 {
        self.runner.guard.look_at_folders(&repository.workspace())
    }
}

impl Gone {
    /// Whether this file, which existed at the checkpoint and is missing now, was missing already when the
    /// call began. The path is relative to the workspace.
    fn was_gone(&self, path: &Path) -> bool {
        let mut folder = PathBuf::new();
        for part in path.components() {
            // Only a folder that has not changed since the call began can tell.
            if let Some(Listing { changed, names }) = self.listings.get(&folder)
                && *changed < self.at.0 - TICK
                && !names.contains(part.as_os_str())
            {
                return true;
            }
            folder.push(part);
        }
        false
    }
}

impl Repository<'_> {
    pub(super) fn take(&self, index: &mut Index, take: &Take) -> Result<Taken, NoCheckpoint> {
        let tree = self.current_tree(index, take.previous.is_none())?;
        let tip = tip(take.conversation, take.task);
        let Some(previous) = &take.previous else {
            self.note(take.conversation)?;
            let head = self.found.as_ref().and_then(Found::head).map(|head| head.line());
            let saved =
                self.commit(tree, None, &format!("{}\n\n{}", take.label, head.unwrap_or_default()))?;
            pass(Point::FilesSaved);
            self.refer(&tip, &saved.commit)?;
            pass(Point::FilesReferred);
            return Ok(Taken::Changed(TakenCheckpoint { others: None, edits: None, saved }));
        };
        if tree == previous.tree {
            return Ok(Taken::Unchanged);
        }
        let changes = self.diff(&previous.tree, &tree)?;
        let authors: Vec<Author> = match &take.ran {
            None => vec![Author::Others; changes.len()],
            Some(ran) => {
                let gone = index.gone.get(&take.task).filter(|gone| gone.since == previous.commit);
                let is_anothers = |change: &Change| index.is_anothers(take.task, ran.window, change);
                changes.iter().map(|change| self.author(change, ran, gone, is_anothers)).collect()
            }
        };
        // The work tree with the changes of these authors.
        let with = |these: &[Author]| {
            let taken = changes.iter().zip(&authors).filter(|(_, author)| these.contains(author));
            self.tree_with(&previous.tree, &tree, &changes, taken.map(|(change, _)| change))
        };
        let others = if authors.contains(&Author::Others) {
            Some(self.commit(with(&[Author::Others])?, Some(previous), "changed by others")?)
        } else {
            None
        };
        let mut parent = others.as_ref().unwrap_or(previous).clone();
        let edits = if authors.contains(&Author::CommandOrOthers) {
            if authors.contains(&Author::Task) {
                let tree = with(&[Author::Others, Author::Task])?;
                parent = self.commit(tree, Some(&parent), &format!("{}, edits", take.label))?;
            }
            Some(parent.clone())
        } else {
            None
        };
        if let Some(Ran { window, .. }) = take.ran {
            let edited = changes.into_iter().zip(authors).filter(|(_, author)| *author == Author::Task);
            for (Change { path, after, .. }, _) in edited {
                index.edited(Edited { task: take.task, at: window.until, path, after });
            }
        }
        let saved = if parent.tree == tree { parent } else { self.commit(tree, Some(&parent), &take.label)? };
        pass(Point::FilesSaved);
        self.refer(&tip, &saved.commit)?;
        pass(Point::FilesReferred);
        Ok(Taken::Changed(TakenCheckpoint { others, edits, saved }))
    }

    /// Who has made a change since the checkpoint before.
    fn author(
        &self,
        change: &Change,
        ran: &Ran,
        gone: Option<&Gone>,
        is_anothers: impl Fn(&Change) -> bool,
    ) -> Author {
        let path = Path::new(OsStr::from_bytes(&change.path)).strip_prefix(&self.workspace).ok();
        let was_gone =
            change.after.is_none() && gone.zip(path).is_some_and(|(gone, path)| gone.was_gone(path));
        if was_gone || !self.is_within(ran.window, &change.path) || is_anothers(change) {
            return Author::Others;
        }
        let edit = path.and_then(|path| ran.edits.iter().rfind(|edit| Path::new(&edit.path) == path));
        if self.is_ours || edit.is_some_and(|edit| self.is_as_edited(change, edit)) {
            return Author::Task;
        }
        if ran.commands { Author::CommandOrOthers } else { Author::Others }
    }

    /// Whether a changed file still holds what an edit has written.
    fn is_as_edited(&self, change: &Change, edit: &EditHashes) -> bool {
        let size = self.stat(&change.path).and_then(|stat| u64::try_from(stat.st_size).ok());
        if size != Some(edit.bytes) {
            return false;
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let mut content = Vec::new();
        openat2(self.root(), &*change.path, flags, Mode::empty(), resolve)
            .map_err(io::Error::from)
            .and_then(|file| File::from(file).take(MAX_FILE).read_to_end(&mut content))
            .is_ok_and(|_| hash(&content) == edit.after)
    }

    /// The tree `before` with the `taken` part of the `changes` between `before` and `after`.
    pub(super) fn tree_with<'c>(
        &self,
        before: &str,
        after: &str,
        changes: &[Change],
        taken: impl Iterator<Item = &'c Change>,
    ) -> Result<String, NoCheckpoint> {
        let taken: Vec<&Change> = taken.collect();
        if taken.is_empty() {
            return Ok(before.to_owned());
        }
        if taken.len() == changes.len() {
            return Ok(after.to_owned());
        }
        let index = self.file("part.index");
        let _ = fs::remove_file(&index);
        self.run_on(&index, &["read-tree", before], &[])?;
        self.set_entries(&index, taken.iter().map(|change| (&*change.path, change.after.as_ref())))?;
        let tree = self.write_tree(&index)?;
        let _ = fs::remove_file(index);
        Ok(tree)
    }

    /// Whether a file was last changed in the window, by its time, or by the time of its folder if the file
    /// is missing.
    fn is_within(&self, window: Window, path: &[u8]) -> bool {
        let Some((_, stat)) = self.nearest(path) else { return true };
        let changed = changed_at(&stat);
        let is_folder = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir();
        // A folder may have changed again after the window.
        window.from.0 - TICK <= changed && (changed <= window.until.0 || is_folder)
    }

    /// The file, or the nearest existing folder above it, relative to the work tree. Empty: the work tree
    /// itself.
    fn nearest<'p>(&self, mut path: &'p [u8]) -> Option<(&'p [u8], Stat)> {
        loop {
            if let Some(stat) = self.stat(path) {
                return Some((path, stat));
            }
            let Some(end) = path.iter().rposition(|byte| *byte == b'/') else {
                return self.stat(b".").map(|stat| (&b""[..], stat));
            };
            path = path.get(..end).unwrap_or_default();
        }
    }

    /// Puts files into one of our indexes, or takes files out.
    pub(super) fn set_entries<'e>(
        &self,
        index: &str,
        entries: impl Iterator<Item = (&'e [u8], Option<&'e Entry>)> + Clone,
    ) -> Result<(), NoCheckpoint> {
        let zero = "0".repeat(if self.found.as_ref().is_some_and(|found| found.is_sha256) { 64 } else { 40 });
        let line = |(path, entry): (&[u8], Option<&Entry>)| {
            let (mode, id) = entry.map_or(("0", &*zero), |entry| (&*entry.mode, &*entry.id));
            [format!("{mode} {id}\t").as_bytes(), path, b"\0"].concat()
        };
        // Removals first: an added file may need the place of a removed one.
        let gone = entries.clone().filter(|(_, entry)| entry.is_none());
        let there = entries.filter(|(_, entry)| entry.is_some());
        let input: Vec<u8> = gone.chain(there).flat_map(line).collect();
        self.run_on(index, &["update-index", "-z", "--replace", "--index-info"], &input).map(drop)
    }

    /// Makes a commit without a reference; git collects such a commit when a conversation is deleted.
    pub(super) fn commit(
        &self,
        tree: String,
        parent: Option<&SavedTree>,
        message: &str,
    ) -> Result<SavedTree, NoCheckpoint> {
        let mut arguments = vec!["commit-tree", &*tree, "-m", message];
        if let Some(parent) = parent {
            arguments.extend(["-p", &*parent.commit]);
        }
        let commit = id(&self.run(&arguments, &[])?, "commit-tree")?;
        Ok(SavedTree { commit, tree })
    }
}

/// The reference to a task's newest checkpoint.
pub(super) fn tip(conversation: ConversationId, task: TaskId) -> String {
    format!("refs/abide/{conversation}/{task}/tip")
}

/// When a file's content, mode or name last changed, in ms. Nobody can set this time.
pub(super) fn changed_at(stat: &Stat) -> i64 {
    #[expect(clippy::useless_conversion, reason = "the types differ between platforms")]
    let (seconds, nanos) = (i64::try_from(stat.st_ctime), i64::try_from(stat.st_ctime_nsec));
    seconds.unwrap_or(i64::MAX).saturating_mul(1000).saturating_add(nanos.unwrap_or(0) / 1_000_000)
}
