//! Makes foreign text safe for the terminal: no control character passes. Measures display widths.

use abide_host::text::{visible, visible_line};
use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Text of several lines: newlines and tabs stay, other control characters are escaped.
pub(crate) fn block(raw: &str) -> Cow<'_, str> {
    visible(raw)
}

/// Text on one line, with runs of white space as single spaces.
pub(crate) fn one_line(raw: &str) -> String {
    visible(raw).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text on one line, with its spaces as they are; newlines are escaped.
pub(crate) fn one_row(raw: &str) -> String {
    visible_line(raw).into_owned()
}

/// Columns from one tab stop to the next.
const TAB: usize = 8;

/// A line of a command's output as a terminal would show it: without text overwritten after a carriage
/// return, tabs as spaces.
pub(crate) fn row(line: &str) -> String {
    let last = line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default();
    let mut row = String::with_capacity(last.len());
    for (i, part) in last.split('\t').enumerate() {
        if i > 0 {
            row.push_str(&" ".repeat(TAB - width(&row) % TAB));
        }
        row.push_str(&visible_line(part));
    }
    row.truncate(row.trim_end().len());
    row
}

/// The first line that is not blank.
pub(crate) fn first_line(raw: &str) -> String {
    raw.lines().map(one_line).find(|line| !line.is_empty()).unwrap_or_default()
}

/// The display width.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Cuts to at most `room` columns; cut text ends in `…`.
pub(crate) fn fit(text: &str, room: usize) -> Cow<'_, str> {
    if text.width() <= room {
        return Cow::Borrowed(text);
    }
    let mut used = 0;
    let end = text
        .char_indices()
        .find(|(_, c)| {
            used += c.width().unwrap_or(0);
            used >= room
        })
        .map_or(0, |(i, _)| i);
    Cow::Owned(format!("{}…", &text[..end]))
}

/// Text of several lines, indented.
pub(crate) fn indented(raw: &str, by: usize) -> String {
    let margin = " ".repeat(by);
    let mut out = String::new();
    for line in block(raw).trim_end().lines() {
        out.push_str(if line.is_empty() { "" } else { &margin });
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// The terminal's width; `None` if standard output is no terminal.
pub(crate) fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(w, _)| usize::from(w.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2Jsafe\r\u{8}\u{9b}31m\u{202e}evil\u{0}";

    #[test]
    fn hostile_text_has_no_control_character_left() {
        for shown in
            [block(HOSTILE).into_owned(), one_line(HOSTILE), indented(HOSTILE, 2), first_line(HOSTILE)]
        {
            assert!(shown.contains("safe"), "{shown:?}");
            let bad = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}');
            assert_eq!(shown.chars().find(|&c| bad(c)), None, "{shown:?}");
        }
    }

    #[test]
    fn lines_are_joined_or_keep_their_newlines() {
        assert_eq!(one_line("a\n  b\tc\n"), "a b c");
        assert_eq!(first_line("\n \nb c\nd"), "b c");
        assert_eq!(block("a\n\tb"), "a\n\tb");
        assert_eq!(indented("a\n\nb\n\n", 2), "  a\n\n  b\n");
    }

    #[test]
    fn cutting_counts_columns_and_never_splits_a_character() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit("日本語日本", 6), "日本…");
        assert_eq!(fit("abc", 0), "…");
        assert!(width(&fit("日本語", 4)) <= 4);
    }
}
