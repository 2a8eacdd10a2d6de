//! Shows what a task has changed.

use super::{
    Checkpoints, NoCheckpoint, Place, diff_text,
    plan::{Author, Change, FilePath, Planned, plan},
    repository::Repository,
};
use crate::text::escape;
use abide_protocol::checkpoint::{Chain, ChangeKind, ChangedBy, ChangedFile};
use std::{collections::BTreeMap, fs, io::Read as _, sync::PoisonError};

/// The longest diff that is shown, in bytes.
pub(super) const MAX_DIFF: u64 = 1 << 20;

/// A line of a diff before the files that changed while commands ran. `git apply` ignores the line.
const DURING_COMMANDS: &str = "# These changed while a command ran: by the command, or by you.\n";

/// The differences of some files.
pub(super) struct Difference {
    lines: BTreeMap<FilePath, Lines>,
    pub(super) diff: Vec<u8>,
    is_cut: bool,
}

/// The files that a task has changed and that still differ from their state before the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    pub files: Vec<ChangedFile>,
    /// A unified diff of the files.
    pub diff: String,
    /// The diff is cut.
    pub is_cut: bool,
    /// What an undo leaves as it is beside files, in sentences without a full stop.
    pub notes: Vec<String>,
}

impl Checkpoints {
    /// The changes of the links of a chain, from link `from` on, that still stand. `all`: an undo would also
    /// restore changes made while a command ran.
    ///
    /// # Errors
    /// Why the changes cannot be found out.
    pub fn changes(
        &self,
        place: &Place,
        chain: &Chain,
        from: usize,
        all: bool,
    ) -> Result<Changes, NoCheckpoint> {
        let repository = self.repository(place, Some(&chain.base))?;
        let index = self.index(&repository);
        let mut index = index.lock().unwrap_or_else(PoisonError::into_inner);
        let now = repository.current_tree(&mut index, false)?;
        let planned = repository.plan(chain, from, &now)?;
        let mut changes = repository.shown(&planned, all)?;
        let beginning = repository.beginning(&chain.base)?;
        changes.notes = repository.left_as_is(&beginning);
        let inner = repository.inner_repositories(beginning.at)?;
        changes.files.extend(inner.iter().map(|path| ChangedFile {
            path: name(path),
            kind: ChangeKind::Modified,
            added: None,
            removed: None,
            kept: true,
            perhaps_yours: false,
        }));
        Ok(changes)
    }
}

impl Repository<'_> {
    /// What an undo of the links from `from` on does with each file of the work tree `now`.
    pub(super) fn plan(&self, chain: &Chain, from: usize, now: &str) -> Result<Vec<Planned>, NoCheckpoint> {
        let states = [&chain.base].into_iter().chain(chain.links.iter().map(|link| &link.to));
        let mut all: Vec<(ChangedBy, Vec<Change>)> = Vec::new();
        for (before, link) in states.zip(&chain.links).skip(from) {
            if before.tree != link.to.tree {
                all.push((link.by, self.diff(&before.tree, &link.to.tree)?));
            }
        }
        if chain.last().tree != now {
            all.push((ChangedBy::Others, self.diff(&chain.last().tree, now)?));
        }
        Ok(plan(all.iter().map(|(by, changes)| (*by, &**changes))))
    }

    fn shown(&self, planned: &[Planned], all: bool) -> Result<Changes, NoCheckpoint> {
        let is_perhaps = |file: &Planned| file.author == Author::CommandOrOthers;
        let (perhaps, certain): (Vec<&Planned>, Vec<&Planned>) =
            planned.iter().partition(|file| is_perhaps(file));
        let (mut lines, mut diff, mut is_cut) = (BTreeMap::new(), String::new(), false);
        for (files, heading) in [(certain, ""), (perhaps, DURING_COMMANDS)] {
            let room = MAX_DIFF.saturating_sub(diff.len() as u64);
            if files.is_empty() {
                continue;
            }
            let part = self.difference(&files, room)?;
            lines.extend(part.lines);
            diff += heading;
            diff += &diff_text::text(&part.diff);
            is_cut |= part.is_cut;
        }
        let file = |file: &Planned| {
            let (added, removed) = lines.get(&file.path).copied().unwrap_or_default();
            let kind = match (&file.target, &file.current) {
                (None, _) => ChangeKind::Added,
                (_, None) => ChangeKind::Deleted,
                _ => ChangeKind::Modified,
            };
            ChangedFile {
                path: name(&file.path),
                kind,
                added,
                removed,
                kept: !file.is_restored(all),
                perhaps_yours: is_perhaps(file),
            }
        };
        let files = planned.iter().map(file).collect();
        Ok(Changes { files, diff, is_cut, notes: Vec::new() })
    }

    /// The differences of these files, with a diff of at most so many bytes.
    pub(super) fn difference(&self, files: &[&Planned], room: u64) -> Result<Difference, NoCheckpoint> {
        let told = || files.iter().filter(|file| !file.is_left_out());
        let before = self.tree_of(told().map(|file| (&*file.path, file.target.as_ref())))?;
        let after = self.tree_of(told().map(|file| (&*file.path, file.current.as_ref())))?;
        let index = self.file("index");
        let plain = ["--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"];
        let arguments = [&["diff-tree", "-r", "--numstat", "-z"], &plain[..], &[&before, &after]].concat();
        let counted = self.git().start(self.ours(&index), &arguments, &[])?;
        let arguments = [&["diff-tree", "-r", "-p"], &plain[..], &[&before, &after]].concat();
        let patch = self.git().start(self.ours(&index), &arguments, &[])?;
        let lines = parse_counts(&counted.succeed()?).ok_or(NoCheckpoint::Answer { what: "diff-tree" })?;
        let read = patch.read(|patch| {
            let mut diff = Vec::new();
            patch.take(room + 1).read_to_end(&mut diff)?;
            // The rest is read and dropped, so that git ends normally.
            std::io::copy(patch, &mut std::io::sink())?;
            Ok(diff)
        });
        let (mut diff, code, words) = read?;
        if code != 0 {
            return Err(NoCheckpoint::Failed { what: "diff-tree".to_owned(), words });
        }
        let is_cut = diff.len() as u64 > room;
        if is_cut {
            // Up to the last whole line.
            diff.truncate(diff.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
        }
        Ok(Difference { lines, diff, is_cut })
    }

    /// A tree with just these files.
    fn tree_of<'e>(
        &self,
        entries: impl Iterator<Item = (&'e [u8], Option<&'e super::plan::Entry>)> + Clone,
    ) -> Result<String, NoCheckpoint> {
        let index = self.file("changes.index");
        let _ = fs::remove_file(&index);
        self.set_entries(&index, entries.filter(|(_, entry)| entry.is_some()))?;
        let tree = self.write_tree(&index)?;
        let _ = fs::remove_file(index);
        Ok(tree)
    }
}

/// A path in words.
pub(super) fn name(path: &[u8]) -> String {
    escape(&String::from_utf8_lossy(path))
}

type Lines = (Option<u64>, Option<u64>);

/// Reads the output of `git diff-tree --numstat -z`.
fn parse_counts(output: &[u8]) -> Option<BTreeMap<FilePath, Lines>> {
    let of_file = |field: &[u8]| {
        let mut parts = field.splitn(3, |byte| *byte == b'\t');
        let mut count = || Some(str::from_utf8(parts.next()?).ok()?.parse().ok());
        let lines = (count()?, count()?);
        Some((parts.next()?.to_vec(), lines))
    };
    output.split(|byte| *byte == 0).filter(|field| !field.is_empty()).map(of_file).collect()
}
