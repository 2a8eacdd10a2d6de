//! Replaces a piece of a text, and leaves every other byte as it is.

use std::{borrow::Cow, ops::Range};

/// The text with the piece replaced, once or everywhere; or how often the piece occurs.
///
/// A line end of `old` also matches CRLF in the text. Line ends of `new` become those of the place, unless
/// `new` has a carriage return. What `old` and `new` have in common at both ends stays as it is.
pub(super) fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<String, usize> {
    let flat = if old.contains('\r') { Flat::as_it_is(text) } else { Flat::of(text) };
    let found: Vec<usize> = flat.text.match_indices(old).map(|(at, _)| at).collect();
    if found.is_empty() || found.len() > 1 && !all {
        return Err(found.len());
    }
    let (start, end) = in_common(old, new);
    let new_part = &new[start..new.len() - end];
    let is_literal = old.contains('\r') || !new_part.contains('\n') || new_part.contains('\r');
    let ends = if is_literal { Vec::new() } else { line_ends(text) };
    let (mut after, mut kept_to) = (String::with_capacity(text.len()), 0);
    for at in found {
        let Range { start: from, end: to } = flat.place(at + start)..flat.place(at + old.len() - end);
        after.push_str(&text[kept_to..from]);
        if is_literal {
            after.push_str(new_part);
        } else {
            after.push_str(&new_part.replace('\n', line_end(text, &ends, from)));
        }
        kept_to = to;
    }
    after.push_str(&text[kept_to..]);
    Ok(after)
}

/// A text whose line ends are all LF.
struct Flat<'a> {
    text: Cow<'a, str>,
    /// The places of line ends that are CRLF in the original text.
    crlf: Vec<usize>,
}

impl<'a> Flat<'a> {
    fn of(text: &'a str) -> Self {
        // Each CRLF before the place has lost a byte.
        let crlf: Vec<usize> = text.match_indices("\r\n").enumerate().map(|(n, (at, _))| at - n).collect();
        if crlf.is_empty() {
            Self::as_it_is(text)
        } else {
            Self { text: text.replace("\r\n", "\n").into(), crlf }
        }
    }

    fn as_it_is(text: &'a str) -> Self {
        Self { text: text.into(), crlf: Vec::new() }
    }

    /// The place in the original text.
    fn place(&self, at: usize) -> usize {
        at + self.crlf.partition_point(|end| *end < at)
    }
}

/// How many bytes two texts have in common at their starts and, beyond those, at their ends.
fn in_common(a: &str, b: &str) -> (usize, usize) {
    fn bytes(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
        a.zip(b).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum()
    }
    let start = bytes(a.chars(), b.chars());
    let end = bytes(a[start..].chars().rev(), b[start..].chars().rev());
    // Half of a CRLF does not count as common.
    let is_half = b[start..b.len() - end].ends_with('\r') && b[b.len() - end..].starts_with('\n');
    (start, if is_half { end - 1 } else { end })
}

/// Where the lines of a text end, each at its LF.
fn line_ends(text: &str) -> Vec<usize> {
    text.match_indices('\n').map(|(at, _)| at).collect()
}

/// The end of the line at this place, else of the line before it.
fn line_end(text: &str, ends: &[usize], place: usize) -> &'static str {
    let next = ends.get(ends.partition_point(|end| *end < place)).or(ends.last());
    if next.is_some_and(|end| text[..*end].ends_with('\r')) { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(text: &str, old: &str, new: &str, expected: &str) {
        assert_eq!(replace(text, old, new, true).as_deref(), Ok(expected), "{text:?}");
    }

    #[test]
    fn line_ends_are_those_of_the_place() {
        becomes("a\r\nb\r\n", "a\nb", "c\nd", "c\r\nd\r\n");
        becomes("a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n");
        becomes("a\r\nb", "b", "x\ny", "a\r\nx\r\ny");
        becomes("ab", "b", "x\ny", "ax\ny");
        becomes("a\nb\r\nc\n", "b", "x\ny", "a\nx\r\ny\r\nc\n");
        becomes("b\r\nb\n", "b", "x\ny", "x\r\ny\r\nx\ny\n");
        becomes("a\r\n\r\nb\r\n", "\n\n", "\n", "a\r\nb\r\n");
        becomes("a\r\nb", "a\nb", "ab", "ab");
    }

    #[test]
    fn lines_that_are_only_repeated_stay_as_they_are() {
        becomes("a\nb\r\nc\nd\r\n", "a\nb\nc\nd", "a\nb\nC\nd", "a\nb\r\nC\nd\r\n");
        becomes("a\r\nb\n", "a\nb\n", "a\nnew\nb\n", "a\r\nnew\nb\n");
        becomes("é\r\nè\n", "é\nè", "é\nê", "é\r\nê\n");
        becomes("aa", "aa", "aaa", "aaa");
    }

    #[test]
    fn a_carriage_return_is_meant() {
        becomes("a\r\nb\r\n", "a\r\nb", "c", "c\r\n");
        becomes("a\r\nb\r\n", "a\r\n", "a\n", "a\nb\r\n");
        becomes("a\nb\n", "a\n", "a\r\n", "a\r\nb\n");
        becomes("a\r\nb\nc", "a\nb\nc", "a\r\nb\r\nc", "a\r\nb\r\nc");
        assert_eq!(replace("a\nb", "a\r\nb", "c", false), Err(0));
    }

    /// All texts of up to this many of these parts.
    fn texts(parts: &[&str], most: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut longest = all.clone();
        for _ in 0..most {
            longest = longest
                .iter()
                .flat_map(|text| parts.iter().map(move |part| format!("{text}{part}")))
                .collect();
            all.extend(longest.iter().cloned());
        }
        all
    }

    #[test]
    fn in_any_small_text_only_the_piece_changes_and_no_line_end_breaks() {
        let lf = |text: &str| text.replace("\r\n", "\n");
        for text in texts(&["a", "é", "\n", "\r\n"], 5) {
            let flat = Flat::of(&text);
            for old in texts(&["a", "é", "\n"], 2).iter().filter(|old| !old.is_empty()) {
                for new in texts(&["a", "é", "\n"], 2) {
                    let Ok(after) = replace(&text, old, &new, true) else {
                        assert!(!flat.text.contains(old), "{text:?} {old:?}");
                        continue;
                    };
                    assert_eq!(lf(&after), flat.text.replace(old, &new), "{text:?} {old:?} {new:?}");
                    assert_eq!(after.matches('\r').count(), after.matches("\r\n").count());
                    let first = flat.place(flat.text.find(old).unwrap());
                    let last = flat.place(flat.text.rmatch_indices(old).next().unwrap().0 + old.len());
                    assert!(
                        after.starts_with(&text[..first]) && after.ends_with(&text[last..]),
                        "{text:?} {old:?} {new:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_piece_is_counted_whatever_its_line_ends() {
        assert_eq!(replace("a\r\nb a\nb", "a\nb", "c", false), Err(2));
        assert_eq!(replace("ab", "c", "d", true), Err(0));
    }
}
