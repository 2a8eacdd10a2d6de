//! Shows what a task has changed.

use super::{
    Checkpoints, NoCheckpoint, Place,
    plan::{Change, FilePath, Planned, plan},
    repository::Repository,
};
use crate::text::escape;
use abide_protocol::checkpoint::{Chain, ChangeKind, ChangedBy, ChangedFile};
use std::{collections::BTreeMap, fs, io::Read as _, sync::PoisonError};

/// The most of a difference that is shown, in bytes.
const MAX_DIFF: u64 = 1 << 20;

/// The files that a task has changed and that are not what they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    pub files: Vec<ChangedFile>,
    /// A unified diff of them.
    pub diff: String,
    /// The diff is cut.
    pub is_cut: bool,
}

impl Checkpoints {
    /// What the links of a chain from this one on have changed, and still is changed.
    ///
    /// # Errors
    /// It cannot be found out, and why.
    pub fn changes(&self, place: &Place, chain: &Chain, from: usize) -> Result<Changes, NoCheckpoint> {
        let repository = self.repository(place, Some(&chain.base))?;
        let index = self.index(&repository);
        let mut index = index.lock().unwrap_or_else(PoisonError::into_inner);
        let now = repository.current_tree(&mut index, false)?;
        let planned = repository.plan(chain, from, &now)?;
        let mut changes = repository.shown(&planned)?;
        let inner = repository.inner_repositories(repository.made_at(&chain.base)?)?;
        changes.files.extend(inner.iter().map(|path| ChangedFile {
            path: name(path),
            kind: ChangeKind::Modified,
            added: None,
            removed: None,
            kept: true,
        }));
        Ok(changes)
    }
}

impl Repository<'_> {
    /// What an undo of the links from this one on does with each file, if the work tree is `now`.
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

    fn shown(&self, planned: &[Planned]) -> Result<Changes, NoCheckpoint> {
        if planned.is_empty() {
            return Ok(Changes { files: Vec::new(), diff: String::new(), is_cut: false });
        }
        let told = || planned.iter().filter(|file| !file.is_left_out());
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
            patch.take(MAX_DIFF + 1).read_to_end(&mut diff)?;
            // The rest is read too, so that git ends as it should.
            std::io::copy(patch, &mut std::io::sink())?;
            Ok(diff)
        });
        let (mut diff, code, words) = read?;
        if code != 0 {
            return Err(NoCheckpoint::Failed { what: "diff-tree".to_owned(), words });
        }
        let is_cut = diff.len() as u64 > MAX_DIFF;
        if is_cut {
            // Up to the last whole line.
            diff.truncate(diff.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
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
                kept: file.is_kept || file.is_left_out(),
            }
        };
        let files = planned.iter().map(file).collect();
        Ok(Changes { files, diff: String::from_utf8_lossy(&diff).into_owned(), is_cut })
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
