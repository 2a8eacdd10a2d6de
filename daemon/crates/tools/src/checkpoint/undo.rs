//! Undoes a task's changes.

use super::{
    Checkpoints, NoCheckpoint, Place,
    changes::name,
    found::Found,
    head::{HEAD, Head},
    plan::{Author, Change, Entry, FilePath, Planned},
    repository::{Repository, id, private},
    take::{changed_at, tip},
};
use abide_fail_point::{Point, pass};
use abide_protocol::{
    ConversationId, RecordId, TaskId,
    checkpoint::{Chain, KeptFile, SavedTree, UndoneFiles},
};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, chmodat, openat2};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    io::Write as _,
    os::{fd::AsRawFd as _, unix::ffi::OsStrExt as _},
    sync::PoisonError,
};

/// The most files that are named in the result of an undo.
const MAX_NAMED: usize = 500;

/// An undo to carry out, or to continue.
#[derive(Debug, Clone)]
pub struct UndoOrder {
    pub conversation: ConversationId,
    pub task: TaskId,
    /// The undo's id. An undo with the same id is continued.
    pub undo: RecordId,
    pub chain: Chain,
    /// The first link to undo.
    pub from: usize,
    /// Undo also changes that were made while a command ran.
    pub all: bool,
    /// Only these files, as [`ChangedFile::path`](abide_protocol::checkpoint::ChangedFile::path) names them.
    /// Empty: all files.
    pub files: Vec<String>,
    /// Only this hunk of the one file in `files`, as the diff of the changes shows it.
    pub hunk: Option<String>,
}

impl Checkpoints {
    /// Keeps the files as they are, then restores the files that the task has changed and nobody else has
    /// changed since. The index, the branches and ignored files are not touched.
    ///
    /// # Errors
    /// Why the undo failed. Some files may be restored; the same undo again does the rest.
    pub fn undo(&self, place: &Place, undo: &UndoOrder) -> Result<UndoneFiles, NoCheckpoint> {
        let repository = self.repository(place, Some(&undo.chain.base))?;
        let index = self.index(&repository);
        let mut index = index.lock().unwrap_or_else(PoisonError::into_inner);
        let UndoOrder { conversation, task, undo, chain, from, all, files, hunk } = undo;
        let planned = |now: &str| {
            let mut planned = repository.plan(chain, *from, now)?;
            planned.retain(|file| files.is_empty() || files.contains(&name(&file.path)));
            Ok::<_, NoCheckpoint>(planned)
        };
        let mut began = repository.mark()?;
        let mut now = repository.current_tree(&mut index, false)?;
        let opened = repository.open_up(&planned(&now)?, *all);
        if !opened.is_empty() {
            began = repository.mark()?;
            now = repository.current_tree(&mut index, false)?;
        }
        let label = format!("before undo {undo}");
        let reference = format!("refs/abide/{conversation}/{task}/undo-{undo}");
        let before = match repository.referred(&reference)? {
            Some(commit) => {
                let tree = repository.run(&["rev-parse", "--verify", &format!("{commit}^{{tree}}")], &[])?;
                SavedTree { tree: id(&tree, "rev-parse")?, commit }
            }
            None => {
                let last = chain.last();
                let saved = if last.tree == now {
                    last.clone()
                } else {
                    repository.commit(now.clone(), Some(last), &label)?
                };
                repository.refer(&reference, &saved.commit)?;
                saved
            }
        };
        pass(Point::UndoBegun);
        let mut planned = planned(&before.tree)?;
        if let Some(hunk) = hunk {
            // Computed from the kept files, because an earlier attempt may have restored the file.
            planned =
                planned.iter().map(|file| repository.without_hunk(file, hunk)).collect::<Result<_, _>>()?;
        }
        // These files differ only because their mode was opened up.
        planned
            .iter_mut()
            .filter(|file| opened.contains(&file.path))
            .for_each(|file| file.author = Author::Task);
        // Files that an earlier attempt has restored, or that somebody has changed since.
        let since: BTreeMap<_, _> =
            if before.tree == now { Vec::new() } else { repository.diff(&before.tree, &now)? }
                .into_iter()
                .map(|Change { path, after, .. }| (path, after))
                .collect();
        let mut kept: Vec<KeptFile> = Vec::new();
        let mut restore: Vec<&Planned> = Vec::new();
        let mut restored = 0u32;
        for file in &planned {
            let is_at = since.get(&file.path).unwrap_or(&file.current);
            if file.is_left_out() {
                kept.push(KeptFile::because(name(&file.path), LEFT_OUT));
            } else if file.author == Author::Others {
                kept.push(KeptFile::because(name(&file.path), CHANGED));
            } else if !file.is_restored(*all) {
                kept.push(KeptFile {
                    perhaps_yours: true,
                    ..KeptFile::because(name(&file.path), DURING_COMMAND)
                });
            } else if *is_at == file.target {
                restored += 1;
            } else if *is_at == file.current {
                restore.push(file);
            } else {
                kept.push(KeptFile::because(name(&file.path), CHANGED));
            }
        }
        let not_restored = repository.restore(&restore, began, &format!(".abide-undo-{undo}"))?;
        restored += u32::try_from(restore.len() - not_restored.len()).unwrap_or(u32::MAX);
        kept.extend(not_restored);
        let beginning = repository.beginning(&chain.base)?;
        let inner = repository.inner_repositories(beginning.at)?;
        let inner = inner.iter().filter(|_| files.is_empty());
        kept.extend(inner.map(|path| KeptFile::because(name(path), INNER)));
        kept.sort_by(|a, b| a.path.cmp(&b.path));
        if kept.len() > MAX_NAMED {
            let more = kept.len() - MAX_NAMED;
            kept.truncate(MAX_NAMED);
            kept.push(KeptFile::because(format!("and {more} more"), CHANGED));
        }
        let now = repository.current_tree(&mut index, false)?;
        let tree = repository.restored_tree(&before.tree, &now, &planned, *all)?;
        let after = if before.tree == tree {
            before.clone()
        } else {
            repository.commit(tree, Some(&before), &format!("undo {undo}"))?
        };
        repository.note(*conversation)?;
        repository.refer(&tip(*conversation, *task), &after.commit)?;
        let notes = repository.left_as_is(&beginning);
        Ok(UndoneFiles { before, after, restored, kept, notes })
    }
}

/// Why a file is not restored.
pub(super) const CHANGED: &str = "it was changed since, not by the task";
/// The reason for a file that may be the person's.
const DURING_COMMAND: &str = "it changed while a command ran, so it may be yours";
const LEFT_OUT: &str = "it was too large, or could not be read, so no checkpoint has it";
const INNER: &str = "it is a repository of its own, and what changed in it is in no checkpoint";
pub(super) const COLLECTED: &str = "git has removed its earlier content from the repository";

/// When a task's first checkpoint was made, and where.
pub(super) struct Beginning {
    /// In ms since the epoch; to the second.
    pub(super) at: i64,
    /// The [`Head::line`] of the person's repository.
    ///
    /// [`Head::line`]: super::head::Head::line
    head: Option<String>,
}

impl Repository<'_> {
    /// What an undo does not change beside files, in sentences.
    pub(super) fn left_as_is(&self, beginning: &Beginning) -> Vec<String> {
        let now = self.found.as_ref().and_then(Found::head);
        let before = beginning.head.as_deref().and_then(Head::parse);
        let moved = before.zip(now).filter(|(before, now)| before != now);
        let words = moved.map(|(before, now)| {
            format!("HEAD was {before} when the task began and is {now} now: commits and branches stay as they are")
        });
        words.into_iter().collect()
    }

    /// The tree `before` with the undo's own part of the changes until `now`.
    fn restored_tree(
        &self,
        before: &str,
        now: &str,
        planned: &[Planned],
        all: bool,
    ) -> Result<String, NoCheckpoint> {
        let is_restored = |change: &Change| {
            let found = planned.binary_search_by(|file| file.path.cmp(&change.path));
            let file = found.ok().and_then(|at| planned.get(at));
            file.is_some_and(|file| file.is_restored(all) && file.target == change.after)
        };
        if before == now {
            return Ok(now.to_owned());
        }
        let changes = self.diff(before, now)?;
        self.tree_with(before, now, &changes, changes.iter().filter(|change| is_restored(change)))
    }

    /// Makes files readable that the task has made unreadable, so that they can be kept and restored. Returns
    /// their paths.
    fn open_up(&self, planned: &[Planned], all: bool) -> BTreeSet<FilePath> {
        let closed = planned
            .iter()
            .filter(|file| file.author.is_taken_back(all))
            .filter(|file| file.current.as_ref().is_some_and(Entry::is_left_out));
        let open = |file: &Planned| {
            let path = OsStr::from_bytes(&file.path);
            let stat =
                self.stat(&file.path).filter(|stat| FileType::from_raw_mode(stat.st_mode).is_file())?;
            let mode = Mode::from_raw_mode(stat.st_mode & 0o777);
            if mode.contains(Mode::RUSR) {
                return None;
            }
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = openat2(
                self.root(),
                path,
                flags,
                Mode::empty(),
                ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
            )
            .ok()?;
            chmodat(
                CWD,
                format!("/proc/self/fd/{}", file.as_raw_fd()),
                mode | Mode::RUSR | Mode::WUSR,
                AtFlags::empty(),
            )
            .ok()
        };
        closed.filter(|file| open(file).is_some()).map(|file| file.path.clone()).collect()
    }

    /// What the commit of a task's first checkpoint says.
    pub(super) fn beginning(&self, base: &SavedTree) -> Result<Beginning, NoCheckpoint> {
        let commit = self.run(&["cat-file", "commit", &base.commit], &[])?;
        let line = |start: &[u8]| {
            let found = commit.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(start));
            found.and_then(|line| str::from_utf8(line).ok())
        };
        let seconds = line(b"committer ").and_then(|line| line.rsplit(' ').nth(1)?.parse::<i64>().ok());
        let at = seconds.ok_or(NoCheckpoint::Answer { what: "cat-file" })?.saturating_mul(1000);
        Ok(Beginning { at, head: line(HEAD.as_bytes()).map(str::to_owned) })
    }

    /// The present time, as files get it.
    fn mark(&self) -> Result<i64, NoCheckpoint> {
        let path = self.file("mark");
        let of_mark = || {
            private(path.as_ref())?.write_all(b"now")?;
            Ok(rustix::fs::lstat(&path)?)
        };
        of_mark().map(|stat| changed_at(&stat)).map_err(NoCheckpoint::io(path.as_ref()))
    }
}
