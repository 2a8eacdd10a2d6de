//! Long pastes are folded: each is one mark in the text of the field, and a chip below it. Elsewhere the text
//! has them whole: *written*, each between two characters that tell the next window what was folded, and
//! *plain*, as it is sent.

use crate::words::counted;

/// A paste with more lines or more characters than these is folded.
const LINES: usize = 20;
const CHARS: usize = 2000;

/// Around a folded paste in a written text. No text has these characters: Unicode keeps them for the use
/// within a program.
const OPEN: char = '\u{fdd0}';
const CLOSE: char = '\u{fdd1}';

/// The marks. The program's own font has them.
const MARKS: [char; 12] = ['■', '▲', '●', '◆', '▼', '★', '□', '△', '○', '◇', '▽', '☆'];

/// The folded pastes of one field, each with its mark.
#[derive(Debug, Default)]
pub struct Pasted(Vec<(char, String)>);

impl Pasted {
    /// The text to show for a written one, and its folded pastes.
    #[must_use]
    pub fn read(written: &str) -> (String, Self) {
        let mut pasted = Self::default();
        let mut parts = written.split(OPEN).map(|part| part.split_once(CLOSE).unwrap_or((part, "")));
        let mut shown = String::new();
        let Some((first, more)) = parts.next() else { return (shown, pasted) };
        shown.extend([first, more]);
        for (text, after) in parts {
            // A mark is in no other part of the text.
            shown.push(pasted.hold(text, written));
            shown.push_str(after);
        }
        (shown, pasted)
    }

    /// Folds a pasted text if it is long, and returns its mark. A pasted text that contains the mark of
    /// another paste is folded too, because that mark would stand for the other paste.
    pub fn fold(&mut self, text: &str, shown: &str) -> Option<char> {
        let has_mark = self.0.iter().any(|(mark, _)| text.contains(*mark));
        let is_long = text.lines().nth(LINES).is_some() || text.chars().nth(CHARS).is_some();
        (!text.trim().is_empty() && (has_mark || is_long)).then(|| self.hold(&bare(text), shown))
    }

    /// Keeps a text under a mark that is not in the shown one.
    fn hold(&mut self, text: &str, shown: &str) -> char {
        let is_free = |mark: &char| !shown.contains(*mark) && self.0.iter().all(|(used, _)| used != mark);
        let mark = MARKS.into_iter().chain('\u{f0000}'..).find(is_free).unwrap_or('�');
        self.0.push((mark, text.to_owned()));
        mark
    }

    /// Forgets the pastes whose marks the person has deleted.
    pub fn keep(&mut self, shown: &str) {
        self.0.retain(|(mark, _)| shown.contains(*mark));
    }

    /// The whole of a shown text, to be stored and read again.
    #[must_use]
    pub fn written(&self, shown: &str) -> String {
        self.whole(shown, |_, text| format!("{OPEN}{text}{CLOSE}"))
    }

    /// The same, with one paste in the text and not folded any more.
    #[must_use]
    pub fn unfolded(&self, mark: char, shown: &str) -> String {
        self.whole(
            shown,
            |of, text| if of == mark { text.to_owned() } else { format!("{OPEN}{text}{CLOSE}") },
        )
    }

    fn whole(&self, shown: &str, put: impl Fn(char, &str) -> String) -> String {
        let shown = bare(shown);
        let mut whole = String::with_capacity(shown.len());
        for c in shown.chars() {
            match self.0.iter().find(|(mark, _)| *mark == c) {
                Some((mark, text)) => whole.push_str(&put(*mark, text)),
                None => whole.push(c),
            }
        }
        whole
    }

    /// The marks and the texts of the chips.
    pub fn chips(&self) -> impl Iterator<Item = (char, String)> {
        self.0.iter().map(|(mark, text)| {
            let lines = text.lines().count();
            let size = if lines > LINES {
                counted(lines as u64, "line")
            } else {
                counted(text.chars().count() as u64, "character")
            };
            (*mark, format!("{mark} Pasted text · {size}"))
        })
    }
}

/// A written text as it is sent.
#[must_use]
pub fn plain(written: &str) -> String {
    bare(written).trim_end().to_owned()
}

fn bare(text: &str) -> String {
    text.replace([OPEN, CLOSE], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(word: &str) -> String {
        format!("{word}\n").repeat(LINES + 1)
    }

    #[test]
    fn only_a_long_paste_is_folded() {
        for (text, is_folded) in [
            ("short".to_owned(), false),
            ("line\n".repeat(LINES), false),
            (long("line"), true),
            ("x".repeat(CHARS), false),
            ("x".repeat(CHARS + 1), true),
            ("\n".repeat(CHARS + 1), false),
        ] {
            assert_eq!(Pasted::default().fold(&text, "").is_some(), is_folded, "{} bytes", text.len());
        }
    }

    #[test]
    fn what_is_written_is_read_and_sent_whole_and_in_order() {
        for (before, between, after) in [
            ("", "", ""),
            ("Why ", " but\nnot ", "?"),
            ("■ is a mark ", "▲", " ●"),
            ("\u{fdd0}a", "\u{fdd1}", "ä"),
        ] {
            let (one, two) = (long("one ◆"), long("two ■ \u{fdd1}"));
            let mut pasted = Pasted::default();
            let text = format!("{before}{between}{after}");
            let first = pasted.fold(&one, &text).unwrap();
            let second = pasted.fold(&two, &text).unwrap();
            let shown = format!("{before}{first}{between}{second}{after}");
            let whole = bare(&format!("{before}{one}{between}{two}{after}")).trim_end().to_owned();
            let written = pasted.written(&shown);
            assert_eq!(plain(&written), whole);
            let (again, read) = Pasted::read(&written);
            assert_eq!(again.chars().count(), bare(&shown).chars().count(), "folded again: {again}");
            assert_eq!(read.written(&again), written);
            let unfolded = pasted.unfolded(first, &shown);
            assert_eq!(plain(&unfolded), whole);
            let (_, left) = Pasted::read(&unfolded);
            assert_eq!(left.0.len(), 1, "the other stays folded");
        }
    }

    #[test]
    fn a_mark_that_is_pasted_does_not_stand_for_another_paste() {
        let mut pasted = Pasted::default();
        let mark = pasted.fold(&long("one"), "").unwrap();
        let other = pasted.fold(&format!("a {mark}"), &mark.to_string()).unwrap();
        assert_eq!(plain(&pasted.written(&other.to_string())), format!("a {mark}"));
    }

    /// There are more of them than marks.
    #[test]
    fn any_number_of_pastes_is_kept() {
        let mut pasted = Pasted::default();
        let texts: Vec<String> = (0..40).map(|n| long(&n.to_string())).collect();
        let shown: String = texts.iter().filter_map(|text| pasted.fold(text, "")).collect();
        assert_eq!(plain(&pasted.written(&shown)), texts.concat().trim_end());
    }

    #[test]
    fn a_written_text_that_was_cut_is_read() {
        let (shown, pasted) = Pasted::read(&format!("a {OPEN}one\ntw"));
        assert_eq!(plain(&pasted.written(&shown)), "a one\ntw");
    }

    #[test]
    fn a_chip_says_what_makes_it_long() {
        let mut pasted = Pasted::default();
        pasted.fold(&"line\n".repeat(240), "");
        pasted.fold(&"x".repeat(2500), "");
        let labels: Vec<String> = pasted.chips().map(|(_, label)| label).collect();
        assert_eq!(labels, ["■ Pasted text · 240 lines", "▲ Pasted text · 2,500 characters"]);
    }
}
