//! A unified diff, line by line.

use crate::output::cut;
use abide_client::protocol::inbox::Preview;

/// A line of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DiffLine<'a> {
    pub(super) kind: Kind,
    /// Counts from 1: a removed line's number in the old file, else the number in the new file. Unknown after
    /// a cut.
    pub(super) number: Option<usize>,
    pub(super) text: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Added,
    Removed,
    Same,
    /// The start of the next hunk, or the note that there is no final newline.
    Mark,
    /// The daemon has cut the rest.
    Cut,
}

/// Lines that are added and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    pub added: usize,
    pub removed: usize,
    /// There are more: the diff was cut, and they were not counted.
    pub is_least: bool,
}

impl Counts {
    /// `+91`, `−300`; `≥ +91` if there may be more; nothing if there are none.
    #[must_use]
    pub fn words(self) -> (Option<String>, Option<String>) {
        let least = if self.is_least { "≥ " } else { "" };
        let say = |sign: &str, n: usize| (n > 0).then(|| format!("{least}{sign}{n}"));
        (say("+", self.added), say("−", self.removed))
    }
}

/// How many lines are added and removed: as counted by the daemon, else those in the diff.
#[must_use]
pub fn counts(preview: &Preview) -> Counts {
    if let Some(changed) = preview.changed {
        let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        return Counts { added: count(changed.added), removed: count(changed.removed), is_least: false };
    }
    let mut counts = Counts { added: 0, removed: 0, is_least: false };
    for line in lines(&preview.diff) {
        match line.kind {
            Kind::Added => counts.added += 1,
            Kind::Removed => counts.removed += 1,
            Kind::Cut => counts.is_least = true,
            Kind::Same | Kind::Mark => {}
        }
    }
    counts
}

/// The lines after the head, which names the file.
pub(super) fn lines(diff: &str) -> impl Iterator<Item = DiffLine<'_>> {
    let body = if diff.starts_with("--- ") { diff.splitn(3, '\n').nth(2).unwrap_or_default() } else { diff };
    // The numbers of the next lines, in the old and the new file.
    let mut next: Option<(usize, usize)> = None;
    let mut after_cut = false;
    body.lines().map(move |text| {
        // The first line after a cut may be the end of any line.
        let is_rest = std::mem::take(&mut after_cut);
        let (kind, number) = match text.as_bytes().first() {
            // A line of a file has a sign before it.
            _ if cut(text).is_some() => {
                (next, after_cut) = (None, true);
                (Kind::Cut, None)
            }
            _ if is_rest => (Kind::Same, None),
            Some(b'@') => {
                next = begins(text).map(|Begins { before, after }| (before.0, after.0));
                (Kind::Mark, None)
            }
            Some(b'\\') => (Kind::Mark, None),
            Some(b'+') => (Kind::Added, next.as_mut().map(|(_, after)| step(after))),
            Some(b'-') => (Kind::Removed, next.as_mut().map(|(before, _)| step(before))),
            _ => {
                let number = next.as_mut().map(|(before, after)| {
                    step(before);
                    step(after)
                });
                (Kind::Same, number)
            }
        };
        DiffLine { kind, number, text }
    })
}

fn step(n: &mut usize) -> usize {
    let now = *n;
    *n = n.saturating_add(1);
    now
}

/// The position of a hunk: its first line and its length, in the old and the new file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begins {
    pub(super) before: (usize, usize),
    pub(super) after: (usize, usize),
}

/// `@@ -3,7 +4,6 @@`; without a length it is one line.
pub(super) fn begins(mark: &str) -> Option<Begins> {
    let mut parts = mark.split(' ').skip(1);
    let mut range = |sign: char| {
        let range = parts.next()?.strip_prefix(sign)?;
        let (first, count) = range.split_once(',').unwrap_or((range, "1"));
        Some((first.parse().ok()?, count.parse().ok()?))
    };
    Some(Begins { before: range('-')?, after: range('+')? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preview(diff: &str) -> Preview {
        Preview { path: "a".into(), diff: diff.into(), changed: None }
    }

    #[test]
    fn each_line_has_its_number() {
        let diff = "--- a/f\n+++ b/f\n@@ -3,3 +3,4 @@\n x\n-y\n+z\n+w\n v\n\\ No newline at end of file";
        let known: Vec<_> = lines(diff).map(|line| (line.kind, line.number)).collect();
        let expected = [
            (Kind::Mark, None),
            (Kind::Same, Some(3)),
            (Kind::Removed, Some(4)),
            (Kind::Added, Some(4)),
            (Kind::Added, Some(5)),
            (Kind::Same, Some(6)),
            (Kind::Mark, None),
        ];
        assert_eq!(known, expected);
    }

    #[test]
    fn lines_that_look_like_a_head_are_lines() {
        let diff = "--- a/f.sql\n+++ b/f.sql\n@@ -1,2 +1,2 @@\n--- drop the table\n+++ keep it\n x";
        let counts = counts(&preview(diff));
        assert_eq!(counts, Counts { added: 1, removed: 1, is_least: false });
        assert!(lines(diff).any(|line| line.text == "--- drop the table"));
    }

    #[test]
    fn a_new_file_has_no_head_in_its_lines() {
        assert_eq!(lines("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n").count(), 2);
        assert_eq!(lines("(not text: 3 bytes become 4)").count(), 1);
    }

    #[test]
    fn what_was_cut_is_not_counted_as_all() {
        let diff = "@@ -1,9 +1,9 @@\n-x\n-y\n[… 900 characters cut …]\n+ half a line\n+z\n@@ -40 +41 @@\n+w";
        let words = counts(&preview(diff)).words();
        assert_eq!(words, (Some("≥ +2".to_owned()), Some("≥ −2".to_owned())));
        let numbers: Vec<_> = lines(diff).map(|line| line.number).collect();
        assert_eq!(numbers, [None, Some(1), Some(2), None, None, None, None, Some(41)]);
        let quoted = "@@ -1 +1 @@\n-[… 900 characters cut …]\n+y";
        assert_eq!(counts(&preview(quoted)).words(), (Some("+1".to_owned()), Some("−1".to_owned())));
    }
}
