//! The net result of several edits of a file: the difference between before the first and after the last.

use super::lines::{Counts, Kind, begins, lines};
use abide_client::protocol::inbox::Preview;
use std::collections::HashMap;

/// Files with more pairs of lines than this are not compared.
const MAX_PAIRS: usize = 4_000_000;

/// Lines added and removed by all of these diffs of one file, each made after the one before. `None` if they
/// do not tell: one was cut, or the file was changed by something else between two of them.
#[must_use]
pub fn net<'a>(diffs: impl IntoIterator<Item = &'a Preview>) -> Option<Counts> {
    let mut file =
        File { pieces: vec![Piece::Kept { from: 1, count: usize::MAX / 2 }], known: HashMap::new() };
    for preview in diffs {
        file.apply(&preview.diff)?;
    }
    file.counts()
}

/// A file as far as its diffs show it.
struct File<'a> {
    pieces: Vec<Piece<'a>>,
    /// Known lines of the original file, by their number from 1.
    known: HashMap<usize, &'a str>,
}

#[derive(Debug, Clone, Copy)]
enum Piece<'a> {
    /// Unchanged lines of the original file.
    Kept {
        from: usize,
        count: usize,
    },
    Written(&'a str),
}

impl<'a> File<'a> {
    fn apply(&mut self, diff: &'a str) -> Option<()> {
        let mut before = std::mem::take(&mut self.pieces).into_iter();
        let mut rest: Option<Piece<'a>> = None;
        let mut after: Vec<Piece<'a>> = Vec::new();
        // The number of the next line, in the file before this diff.
        let mut at = 1;
        let mut is_in_part = false;
        for line in lines(diff) {
            let text = line.text.get(1..).unwrap_or_default();
            match line.kind {
                Kind::Mark if line.text.starts_with('@') => {
                    let (first, count) = begins(line.text)?.before;
                    // A hunk without lines stands after the line that it names.
                    let first = if count == 0 { first.checked_add(1)? } else { first };
                    let mut skipped = first.checked_sub(at)?;
                    at = first;
                    while skipped > 0 {
                        match rest.take().or_else(|| before.next())? {
                            Piece::Kept { from, count } => {
                                let taken = count.min(skipped);
                                after.push(Piece::Kept { from, count: taken });
                                rest = (count > taken)
                                    .then(|| Piece::Kept { from: from + taken, count: count - taken });
                                skipped -= taken;
                            }
                            written @ Piece::Written(_) => {
                                after.push(written);
                                skipped -= 1;
                            }
                        }
                    }
                    is_in_part = true;
                }
                // The note that there is no final newline.
                Kind::Mark => {}
                Kind::Added if is_in_part => after.push(Piece::Written(text)),
                Kind::Same | Kind::Removed if is_in_part => {
                    let piece = match rest.take().or_else(|| before.next())? {
                        Piece::Kept { from, count } => {
                            if *self.known.entry(from).or_insert(text) != text {
                                return None;
                            }
                            rest = (count > 1).then(|| Piece::Kept { from: from + 1, count: count - 1 });
                            Piece::Kept { from, count: 1 }
                        }
                        written @ Piece::Written(known) if known == text => written,
                        Piece::Written(_) => return None,
                    };
                    if line.kind == Kind::Same {
                        after.push(piece);
                    }
                    at += 1;
                }
                Kind::Added | Kind::Removed | Kind::Same | Kind::Cut => return None,
            }
        }
        after.extend(rest);
        after.extend(before);
        self.pieces = after;
        Some(())
    }

    /// Between two unchanged lines, compares the removed lines with the added ones.
    fn counts(&self) -> Option<Counts> {
        let mut counts = Counts { added: 0, removed: 0, is_least: false };
        let mut next = 1;
        let mut written = Vec::new();
        for piece in &self.pieces {
            match *piece {
                Piece::Written(text) => written.push(text),
                Piece::Kept { from, count } => {
                    let gone: Option<Vec<&str>> = (next..from).map(|n| self.known.get(&n).copied()).collect();
                    let gone = gone?;
                    let same = in_common(&gone, &written)?;
                    counts.removed += gone.len() - same;
                    counts.added += written.len() - same;
                    written.clear();
                    next = from + count;
                }
            }
        }
        Some(counts)
    }
}

/// The length of the longest common subsequence.
fn in_common(a: &[&str], b: &[&str]) -> Option<usize> {
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
    if a.len().checked_mul(b.len())? > MAX_PAIRS {
        return None;
    }
    let mut longest = vec![0; b.len() + 1];
    for line in a {
        let mut diagonal = 0;
        for (n, other) in b.iter().enumerate() {
            let above = longest[n + 1];
            longest[n + 1] = if line == other { diagonal + 1 } else { above.max(longest[n]) };
            diagonal = above;
        }
    }
    Some(start + end + longest[b.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(diffs: &[&str]) -> Option<(usize, usize)> {
        let diffs: Vec<Preview> = diffs
            .iter()
            .map(|diff| Preview { path: "f".into(), diff: (*diff).into(), changed: None })
            .collect();
        net(&diffs).map(|counts| (counts.added, counts.removed))
    }

    #[test]
    fn edits_in_different_places_add_up() {
        let first = "--- a/f\n+++ b/f\n@@ -2,3 +2,4 @@\n b\n-c\n+C\n+CC\n d\n";
        let below = "@@ -11,3 +11,2 @@\n j\n-k\n l";
        let above = "@@ -1,2 +1,3 @@\n a\n+new\n b";
        assert_eq!(of(&[first]), Some((2, 1)));
        assert_eq!(of(&["--- a/f\n+++ b/f\n\\ The file is Shift_JIS\n@@ -2 +2 @@\n-b\n+B\n"]), Some((1, 1)));
        assert_eq!(of(&[first, below]), Some((2, 2)));
        assert_eq!(of(&[first, above, "@@ -12,3 +12,2 @@\n j\n-k\n l"]), Some((3, 2)));
        assert_eq!(of(&[first, "@@ -1 +1 @@\n-a\n+A\n@@ -11 +11 @@\n-j\n+J"]), Some((4, 3)));
    }

    #[test]
    fn what_one_edit_writes_and_the_next_removes_is_neither() {
        let first = "@@ -2 +2,2 @@\n-b\n+x\n+y";
        assert_eq!(of(&[first, "@@ -2,2 +2 @@\n-x\n-y\n+z"]), Some((1, 1)));
        assert_eq!(of(&[first, "@@ -2,2 +2 @@\n-x\n-y\n+b"]), Some((0, 0)), "it is as it was");
        assert_eq!(of(&["@@ -0,0 +1,3 @@\n+a\n+b\n+c", "@@ -1,3 +0,0 @@\n-a\n-b\n-c"]), Some((0, 0)));
        assert_eq!(of(&["@@ -0,0 +1,3 @@\n+a\n+b\n+c", "@@ -2 +2 @@\n-b\n+B"]), Some((3, 0)));
    }

    #[test]
    fn lines_that_come_back_elsewhere_count() {
        let whole = "@@ -1,4 +1,4 @@\n-a\n-b\n-c\n-d\n+b\n+c\n+d\n+a";
        assert_eq!(of(&[whole]), Some((1, 1)));
    }

    #[test]
    fn what_the_diffs_do_not_say_is_not_told() {
        let first = "@@ -2 +2 @@\n-b\n+x";
        for last in [
            "@@ -2 +2 @@\n-y\n+z",
            "@@ -1,9 +1,9 @@\n a\n[… 9 characters cut …]\n+z",
            "(not text: 3 bytes become 4)",
            "@@ nothing @@\n+a",
            "@@ -9 +9 @@\n-i\n+I\n@@ -3 +3 @@\n-c\n+C",
        ] {
            assert_eq!(of(&[first, last]), None, "{last}");
        }
        assert_eq!(
            of(&["@@ -1,2 +1,2 @@\n a\n-b\n+x", "@@ -1 +1 @@\n-other\n+z"]),
            None,
            "a line is another one"
        );
    }
}
