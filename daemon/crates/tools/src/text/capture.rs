use std::borrow::Cow;

/// Bytes kept of each end: enough for half of [`super::RESULT_CHARS`] in the widest characters.
const KEPT: usize = 60_000;

/// Keeps the head and the tail of a text of any length, in bounded memory.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    head: String,
    tail: String,
    /// Characters seen.
    seen: usize,
    /// Text between head and tail was dropped.
    broken: bool,
}

impl Capture {
    pub(crate) fn push(&mut self, mut text: &str) {
        self.seen += text.chars().count();
        if self.tail.is_empty() && !self.broken {
            let room = text.floor_char_boundary(KEPT.saturating_sub(self.head.len()));
            self.head.push_str(&text[..room]);
            text = &text[room..];
        }
        if text.len() > KEPT {
            text = &text[text.ceil_char_boundary(text.len() - KEPT)..];
            self.tail.clear();
            self.broken = true;
        }
        self.tail.push_str(text);
        if self.tail.len() > 2 * KEPT {
            let cut = self.tail.ceil_char_boundary(self.tail.len() - KEPT);
            self.tail.drain(..cut);
            self.broken = true;
        }
    }

    /// The text, or its head and tail with a note of the cut, in about `max` characters.
    pub(crate) fn text(&self, max: usize) -> String {
        if !self.broken {
            return clip(&format!("{}{}", self.head, self.tail), max).into_owned();
        }
        let half = max / 2;
        let (head, tail) = (first(&self.head, half), last(&self.tail, half));
        joined(head, self.seen - head.chars().count() - tail.chars().count(), tail)
    }

    /// Characters seen.
    pub(crate) const fn seen(&self) -> usize {
        self.seen
    }
}

/// The text, or its head and tail with a note of the cut, in about `max` characters.
pub(crate) fn clip(text: &str, max: usize) -> Cow<'_, str> {
    // A text has at most as many characters as bytes.
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let chars = text.chars().count();
    if chars <= max {
        return Cow::Borrowed(text);
    }
    let half = max / 2;
    Cow::Owned(joined(first(text, half), chars - 2 * half, last(text, half)))
}

fn joined(head: &str, cut: usize, tail: &str) -> String {
    format!("{head}\n[… {cut} characters cut …]\n{tail}")
}

fn first(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(at, _)| &text[..at])
}

fn last(text: &str, chars: usize) -> &str {
    if chars == 0 {
        return "";
    }
    text.char_indices().nth_back(chars - 1).map_or(text, |(at, _)| &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_whole() {
        let mut capture = Capture::default();
        capture.push("ab");
        capture.push("é");
        assert_eq!(capture.text(3), "abé");
        assert_eq!(clip("abé", 3), "abé");
    }

    #[test]
    fn what_does_not_fit_keeps_both_ends_and_says_so() {
        assert_eq!(clip("abcdef", 4), "ab\n[… 2 characters cut …]\nef");
        let mut capture = Capture::default();
        for _ in 0..100_000 {
            capture.push("0123456789");
        }
        capture.push("é");
        assert_eq!(capture.text(4), "01\n[… 999997 characters cut …]\n9é");
        assert!(capture.head.len() + capture.tail.len() <= 3 * KEPT, "memory is bounded");
    }

    #[test]
    fn one_huge_piece_is_cut_as_well() {
        let mut capture = Capture::default();
        capture.push(&format!("a{}z", "€".repeat(1_000_000)));
        assert_eq!(capture.text(2), "a\n[… 1000000 characters cut …]\nz");
        assert!(capture.head.len() + capture.tail.len() <= 3 * KEPT);
    }
}
