//! Finds matches in a text.

use iced::advanced::text::Highlighter;
use std::ops::Range;

/// The most matches counted.
pub(super) const MOST: usize = 10_000;

/// A match, in bytes of its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) line: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// All matches, first to last. Case of Latin letters is ignored.
#[must_use]
pub(super) fn hits(text: &str, query: &str) -> Vec<Hit> {
    let query = query.to_ascii_lowercase();
    let lines = text.split('\n').enumerate();
    let all = lines.flat_map(|(line, words)| {
        places(words, &query).into_iter().map(move |place| Hit { line, start: place.start, end: place.end })
    });
    all.take(MOST).collect()
}

/// The matches in a line. Byte positions are kept: only ASCII letters change their case.
fn places(line: &str, query: &str) -> Vec<Range<usize>> {
    if query.is_empty() {
        return Vec::new();
    }
    line.to_ascii_lowercase().match_indices(query).map(|(at, found)| at..at + found.len()).collect()
}

/// Marks all matches in an editor.
#[derive(Debug)]
pub(super) struct Marks {
    query: String,
    line: usize,
}

impl Highlighter for Marks {
    type Settings = String;
    type Highlight = ();
    type Iterator<'a> =
        std::iter::Map<std::vec::IntoIter<Range<usize>>, fn(Range<usize>) -> (Range<usize>, ())>;

    fn new(query: &String) -> Self {
        Self { query: query.to_ascii_lowercase(), line: 0 }
    }

    fn update(&mut self, query: &String) {
        *self = Self::new(query);
    }

    fn change_line(&mut self, line: usize) {
        self.line = self.line.min(line);
    }

    fn highlight_line(&mut self, line: &str) -> Self::Iterator<'_> {
        self.line += 1;
        places(line, &self.query).into_iter().map(|place| (place, ()))
    }

    fn current_line(&self) -> usize {
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_places_are_found_in_either_case() {
        let found = hits("äError: no\nan error, an ERROR\nfine", "error");
        let expected = [
            Hit { line: 0, start: 2, end: 7 },
            Hit { line: 1, start: 3, end: 8 },
            Hit { line: 1, start: 13, end: 18 },
        ];
        assert_eq!(found, expected);
        assert_eq!(hits("anything", ""), []);
        assert_eq!(hits(&"x".repeat(MOST + 5), "x").len(), MOST);
    }

    #[test]
    fn lines_are_marked_one_after_the_other() {
        let mut marks = Marks::new(&"X".to_owned());
        assert_eq!(marks.highlight_line("axbX").map(|(place, ())| place).collect::<Vec<_>>(), [1..2, 3..4]);
        assert_eq!(marks.current_line(), 1);
        marks.update(&"b".to_owned());
        assert_eq!(marks.current_line(), 0, "all lines anew");
    }
}
