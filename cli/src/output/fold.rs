//! Breaks painted prose between words, where a terminal would break it within one.

use crate::output::text;

/// Each line that is wider than `columns` is broken between words; its other rows begin where it begins. A
/// longer word is left to the terminal, so that a path or an address can be copied.
pub(crate) fn folded(painted: &str, columns: usize) -> String {
    hanging(painted, columns, 0)
}

/// The same, but a line's other rows begin `by` columns farther to the right.
pub(crate) fn hanging(painted: &str, columns: usize, by: usize) -> String {
    painted.lines().map(|line| fold(line, columns, by)).collect::<Vec<_>>().join("\n")
}

fn fold(line: &str, columns: usize, by: usize) -> String {
    if width(line) <= columns {
        return line.to_owned();
    }
    let mut begin = line.len() - line.trim_start_matches(' ').len();
    let words = &line[begin..];
    let margin = begin + by;
    let mut out = " ".repeat(begin);
    let mut used = begin;
    for word in words.split(' ') {
        let room = width(word);
        if used > begin && used + 1 + room > columns {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.push_str(&" ".repeat(margin));
            begin = margin;
            used = margin;
        } else if used > begin {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += room;
    }
    out
}

/// The width without the styles.
fn width(painted: &str) -> usize {
    text::width(&anstream::adapter::strip_str(painted).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::style::{BAD, paint};

    #[test]
    fn lines_break_between_words_below_their_beginning() {
        assert_eq!(
            folded("one two three\n  four five six\nx", 9),
            "one two\nthree\n  four\n  five\n  six\nx"
        );
        assert_eq!(folded("a  b", 4), "a  b");
        assert_eq!(folded("", 4), "");
        assert_eq!(hanging(" a: one two three", 8, 3), " a: one\n    two\n    three");
    }

    #[test]
    fn styles_take_no_room_and_a_long_word_is_left_whole() {
        let painted = format!("{} it broke", paint(BAD, "model:"));
        assert_eq!(folded(&painted, 15), painted);
        let broken = folded(&painted, 12);
        assert_eq!(anstream::adapter::strip_str(&broken).to_string(), "model: it\nbroke");
        assert_eq!(folded("see /a/very/long/path now", 8), "see\n/a/very/long/path\nnow");
    }
}
