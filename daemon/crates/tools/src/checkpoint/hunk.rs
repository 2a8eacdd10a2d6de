//! One hunk of a file's changes, undone alone.

use super::{
    NoCheckpoint,
    changes::{MAX_DIFF, name},
    diff_text,
    plan::Planned,
    repository::Repository,
};
use std::fs;

impl Repository<'_> {
    /// The file with one hunk of its diff reversed; the rest of the file stays. `hunk` is the hunk's text,
    /// from `@@` on, in the diff of [`Checkpoints::changes`](super::Checkpoints::changes).
    pub(super) fn without_hunk(&self, file: &Planned, hunk: &str) -> Result<Planned, NoCheckpoint> {
        let gone = || NoCheckpoint::NoHunk { path: name(&file.path) };
        if file.is_left_out() || file.target.is_none() || file.current.is_none() {
            return Err(gone());
        }
        let diff = self.difference(&[file], MAX_DIFF)?.diff;
        let patch = patch_of(&diff, hunk).ok_or_else(gone)?;
        let index = self.file("hunk.index");
        let _ = fs::remove_file(&index);
        self.set_entries(&index, [(&*file.path, file.current.as_ref())].into_iter())?;
        let current = self.write_tree(&index)?;
        self.run_on(&index, &["apply", "--cached", "--reverse", "--whitespace=nowarn", "-"], &patch)?;
        let without = self.write_tree(&index)?;
        let _ = fs::remove_file(index);
        let changed = self.diff(&current, &without)?.pop().ok_or_else(gone)?;
        Ok(Planned { target: changed.after, ..file.clone() })
    }
}

/// A patch with the hunk of this text alone, from the diff of one file. `None`: the diff has no such hunk.
fn patch_of(diff: &[u8], hunk: &str) -> Option<Vec<u8>> {
    let text = diff_text::text(diff);
    let number = split(text.as_bytes()).1.iter().position(|one| *one == hunk.as_bytes())?;
    let (head, hunks) = split(diff);
    let names =
        |line: &&[u8]| [&b"diff --git "[..], b"--- ", b"+++ "].iter().any(|start| line.starts_with(start));
    let head = head.split_inclusive(|byte| *byte == b'\n').filter(names);
    Some(head.chain(hunks.get(number).copied()).flatten().copied().collect())
}

/// The head of a file's diff, and its hunks. Each line of a hunk except the first has a sign before it.
fn split(diff: &[u8]) -> (&[u8], Vec<&[u8]>) {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in diff.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"@@") {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([diff.len()]);
    let hunks = starts.iter().zip(ends).filter_map(|(start, end)| diff.get(*start..end)).collect();
    let head = diff.get(..starts.first().copied().unwrap_or(diff.len())).unwrap_or_default();
    (head, hunks)
}
