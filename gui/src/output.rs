//! A program's output as a terminal would show it in the end.

/// The final text: without colours and cursor movements; of an overwritten line the last version.
#[must_use]
pub fn plain(text: &str) -> String {
    without_escapes(&overwritten(text))
}

/// The text of each line after its last carriage return, as progress bars use it. Colours set before it stay
/// set.
#[must_use]
pub fn overwritten(text: &str) -> String {
    let mut stands = String::with_capacity(text.len());
    for (n, line) in text.split('\n').enumerate() {
        if n > 0 {
            stands.push('\n');
        }
        let line = line.trim_end_matches('\r');
        let (gone, last) = line.rsplit_once('\r').unwrap_or(("", line));
        for part in pieces(gone) {
            if let Piece::Escape(sequence) = part
                && sequence.ends_with('m')
            {
                stands.push_str(sequence);
            }
        }
        stands.push_str(last);
    }
    stands
}

fn without_escapes(text: &str) -> String {
    let words =
        pieces(text).filter_map(|piece| if let Piece::Words(words) = piece { Some(words) } else { None });
    words.collect()
}

/// A part of a program's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Words(&'a str),
    /// An escape sequence from its `ESC` on. It may be cut off.
    Escape(&'a str),
}

const ESC: char = '\u{1b}';

pub(crate) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let is_escape = rest.starts_with(ESC);
        let end = if is_escape { escape(rest) } else { rest.find(ESC).unwrap_or(rest.len()) };
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(if is_escape { Piece::Escape(piece) } else { Piece::Words(piece) })
    })
}

/// The length in bytes of the escape sequence (ECMA-48) at the start of the text.
fn escape(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    let after = |(at, c): (usize, char)| at + c.len_utf8();
    let end = match chars.next() {
        Some((_, '[')) => chars.find(|(_, c)| ('\u{40}'..='\u{7e}').contains(c)).map(after),
        // An operating system command or another string, up to BEL or `ESC \`.
        Some((_, ']' | 'P' | 'X' | '^' | '_')) => {
            let mut before = ' ';
            let is_end = |(_, c): &(usize, char)| {
                let is_end = *c == '\u{7}' || (before == ESC && *c == '\\');
                before = *c;
                is_end
            };
            chars.find(is_end).map(after)
        }
        Some(first @ (_, ' '..='/')) => {
            std::iter::once(first).chain(chars).find(|(_, c)| !(' '..='/').contains(c)).map(after)
        }
        Some(other) => Some(after(other)),
        None => None,
    };
    end.unwrap_or(text.len())
}

/// The last `max` lines of a text, and how many lines precede them.
#[must_use]
pub fn tail(text: &str, max: usize) -> (usize, &str) {
    let text = text.trim_end();
    match text.rmatch_indices('\n').nth(max.saturating_sub(1)) {
        Some((at, _)) => (text[..at].split('\n').count(), &text[at + 1..]),
        None => (0, text),
    }
}

/// How many characters the daemon has left out in place of this line, if it is its note of that.
#[must_use]
pub fn cut(line: &str) -> Option<u64> {
    line.strip_prefix("[… ")?.strip_suffix(" characters cut …]")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_progress_bars_are_read_as_they_stand() {
        for (written, stands) in [
            ("\u{1b}[1;32mok\u{1b}[0m done", "ok done"),
            ("10 %\r50 %\r100 %\r\nend", "100 %\nend"),
            ("\u{1b}]0;title\u{7}a\u{1b}]8;;x\u{1b}\\b", "ab"),
            ("\u{1b}(Ba\u{1b}7b\u{1b}Pq1\u{1b}\\c", "abc"),
            ("dos\r\nlines\r\n", "dos\nlines\n"),
            ("cut \u{1b}[3", "cut "),
            ("cut \u{1b}", "cut "),
            ("bell \u{7} stays", "bell \u{7} stays"),
        ] {
            assert_eq!(plain(written), stands, "{written:?}");
        }
    }

    #[test]
    fn a_colour_outlives_what_was_written_over() {
        assert_eq!(overwritten("\u{1b}[32m10 %\u{1b}[K\r100 %\u{1b}[0m"), "\u{1b}[32m100 %\u{1b}[0m");
    }

    #[test]
    fn the_tail_is_the_last_lines() {
        assert_eq!(tail("a\nb\nc\n", 2), (1, "b\nc"));
        assert_eq!(tail("a\n\nb\nc\n", 2), (2, "b\nc"));
        assert_eq!(tail("a\nb", 2), (0, "a\nb"));
        assert_eq!(tail("", 2), (0, ""));
    }
}
