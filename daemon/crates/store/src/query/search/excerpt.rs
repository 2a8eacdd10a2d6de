use super::words::Words;
use abide_protocol::method::search::{Excerpt, Span};
use std::ops::Range;

/// The most characters of a line that are shown.
const LENGTH: usize = 200;
/// The most characters before the first match.
const BEFORE: usize = 60;

/// The line with the most matches, and the places of the matches. The first line if no line matches literally
/// (the index ignores accents).
pub(super) fn excerpt(text: &str, words: &Words) -> Excerpt {
    let mut best: Option<(usize, &str, Vec<Range<usize>>)> = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (found, different) = words.found_in(line);
        if best.as_ref().is_none_or(|(most, ..)| different > *most) {
            best = Some((different, line, found));
        }
    }
    let Some((_, line, found)) = best else { return Excerpt { text: String::new(), marks: Vec::new() } };
    cut(line, &found)
}

fn cut(line: &str, found: &[Range<usize>]) -> Excerpt {
    let first = found.first().map_or(0, |at| at.start);
    let start = line[..first].char_indices().rev().nth(BEFORE).map_or(0, |(at, _)| at);
    let end = line[start..].char_indices().nth(LENGTH).map_or(line.len(), |(at, _)| start + at);
    let before = if start > 0 { "…" } else { "" };
    let after = if end < line.len() { "…" } else { "" };
    let place = |at: usize| u32::try_from(before.len() + at - start).unwrap_or(u32::MAX);
    let whole = found.iter().filter(|at| at.start >= start && at.end <= end);
    Excerpt {
        text: format!("{before}{}{after}", &line[start..end]),
        marks: whole.map(|at| Span { start: place(at.start), end: place(at.end) }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, query: &str) -> String {
        let Excerpt { mut text, marks } = excerpt(text, &Words::parse(query));
        for mark in marks.iter().rev() {
            text.insert(mark.end as usize, ']');
            text.insert(mark.start as usize, '[');
        }
        text
    }

    #[test]
    fn the_best_line_is_shown_with_what_was_found() {
        let text = "A test.\n\n  Run the cargo tests now, CARGO!\ncargo";
        assert_eq!(shown(text, "cargo test"), "Run the [cargo] [tests] now, [CARGO]!");
        assert_eq!(shown(text, "nowhere"), "A test.");
        assert_eq!(shown("", "x"), "");
        assert_eq!(shown("\n \n", "x"), "");
        assert_eq!(shown("Grüße aus İstanbul", "grüß"), "[Grüße] aus İstanbul");
    }

    #[test]
    fn a_long_line_is_cut_around_its_first_match() {
        let line = format!("{}needle {}", "ä".repeat(300) + " ", "é".repeat(300));
        let shown = shown(&line, "needle");
        assert_eq!(shown, format!("…{} [needle] {}…", "ä".repeat(60), "é".repeat(132)));
        assert_eq!(shown.chars().count(), LENGTH + "…[]…".chars().count());
    }
}
