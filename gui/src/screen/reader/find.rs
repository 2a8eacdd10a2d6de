//! Finds matches in a text, and colours it.

use crate::effect::Form;
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

/// What a part of a text is coloured as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Found,
    /// A line that a diff adds.
    Added,
    Removed,
    /// Where a diff's next lines are.
    Place,
}

impl Mark {
    fn of_line(line: &str) -> Option<Self> {
        if ["diff --git ", "index ", "--- ", "+++ ", "@@ "].iter().any(|head| line.starts_with(head)) {
            return Some(Self::Place);
        }
        match line.as_bytes().first()? {
            b'+' => Some(Self::Added),
            b'-' => Some(Self::Removed),
            _ => None,
        }
    }
}

/// Colours the lines of a diff and all matches in an editor.
#[derive(Debug)]
pub(super) struct Marks {
    query: String,
    form: Form,
    line: usize,
}

impl Highlighter for Marks {
    type Settings = (String, Form);
    type Highlight = Mark;
    type Iterator<'a> = std::vec::IntoIter<(Range<usize>, Mark)>;

    fn new((query, form): &Self::Settings) -> Self {
        Self { query: query.to_ascii_lowercase(), form: *form, line: 0 }
    }

    fn update(&mut self, settings: &Self::Settings) {
        *self = Self::new(settings);
    }

    fn change_line(&mut self, line: usize) {
        self.line = self.line.min(line);
    }

    fn highlight_line(&mut self, line: &str) -> Self::Iterator<'_> {
        self.line += 1;
        let of_line = if self.form == Form::Diff { Mark::of_line(line) } else { None };
        let whole = of_line.map(|mark| (0..line.len(), mark));
        let found = places(line, &self.query).into_iter().map(|place| (place, Mark::Found));
        // A later one is drawn in place of an earlier one.
        whole.into_iter().chain(found).collect::<Vec<_>>().into_iter()
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
        let mut marks = Marks::new(&("X".to_owned(), Form::Plain));
        let found = |place| (place, Mark::Found);
        assert_eq!(marks.highlight_line("axbX").collect::<Vec<_>>(), [found(1..2), found(3..4)]);
        assert_eq!(marks.highlight_line("+a").collect::<Vec<_>>(), []);
        assert_eq!(marks.current_line(), 2);
        marks.update(&("b".to_owned(), Form::Diff));
        assert_eq!(marks.current_line(), 0, "all lines anew");
    }

    #[test]
    fn the_lines_of_a_diff_are_coloured_by_what_they_do() {
        let mut marks = Marks::new(&("b".to_owned(), Form::Diff));
        for (line, mark) in [
            ("diff --git a/x a/x", Some(Mark::Place)),
            ("--- a/x", Some(Mark::Place)),
            ("@@ -1,9 +1,9 @@", Some(Mark::Place)),
            ("+new", Some(Mark::Added)),
            ("-old", Some(Mark::Removed)),
            (" same", None),
            ("", None),
        ] {
            assert_eq!(marks.highlight_line(line).collect::<Vec<_>>().first().map(|(_, mark)| *mark), mark);
        }
        let found: Vec<_> = marks.highlight_line("+a b").collect();
        assert_eq!(found, [(0..4, Mark::Added), (3..4, Mark::Found)]);
    }
}
