//! Folds runs of blanks and of empty lines into their number, so that the text after a long run stays in sight.

use crate::output::measure::counted;
use std::fmt::Write as _;

/// The longest run of blanks that is left as it is: deeper than code is usually indented.
const MAX_BLANKS: usize = 24;
/// The longest run of empty lines that is left as it is.
const MAX_EMPTY: usize = 2;

/// A text whose long runs are folded. `margin`: how many characters at the beginning of each line are not of
/// the text, as the mark of a diff; a run of empty lines has the same mark.
pub(crate) fn folded(text: &str, margin: usize) -> String {
    let lines: Vec<(&str, &str)> = text.split('\n').map(|line| split(line, margin)).collect();
    let mut out = Vec::new();
    let mut rest = &lines[..];
    while let Some(&(mark, line)) = rest.first() {
        let is_alike = |other: &&(&str, &str)| other.0 == mark && is_empty(other.1);
        let empty = rest.iter().take_while(is_alike).count();
        if empty > MAX_EMPTY {
            out.push(format!("{mark}⟨{}⟩", counted(empty as u64, "empty line")));
            rest = &rest[empty..];
        } else {
            out.push(format!("{mark}{}", of_line(line)));
            rest = &rest[1..];
        }
    }
    out.join("\n")
}

fn split(line: &str, margin: usize) -> (&str, &str) {
    let at = line.char_indices().nth(margin).map_or(line.len(), |(at, _)| at);
    line.split_at(at)
}

fn is_empty(line: &str) -> bool {
    line.chars().all(is_blank)
}

/// Also the blank of braille, which is no white space and looks like it.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{2800}'
}

fn of_line(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(begin) = rest.find(is_blank) {
        let (words, from) = rest.split_at(begin);
        let run = &from[..from.find(|c| !is_blank(c)).unwrap_or(from.len())];
        out.push_str(words);
        let count = run.chars().count();
        if count > MAX_BLANKS {
            let _ = write!(out, "⟨{}⟩", counted(count as u64, "blank"));
        } else {
            out.push_str(run);
        }
        rest = &from[run.len()..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_have_their_number() {
        let spaces = |n: usize| " ".repeat(n);
        assert_eq!(folded(&format!("ls{}; rm -rf ~", spaces(300)), 0), "ls⟨300 blanks⟩; rm -rf ~");
        assert_eq!(folded(&format!("ls{}\u{2800}\u{a0}; rm", "\t".repeat(30)), 0), "ls⟨32 blanks⟩; rm");
        assert_eq!(folded(&format!("ls{}", "\n".repeat(1001)), 0), "ls\n⟨1,001 empty lines⟩");
        let hidden = format!("ls\n{}\n\n\nrm -rf ~", spaces(40));
        assert_eq!(folded(&hidden, 0), "ls\n⟨3 empty lines⟩\nrm -rf ~");
    }

    #[test]
    fn what_people_write_stays() {
        for text in ["", "a\n\n\nb\n", "  fn x() {\n        deep  ", &" ".repeat(MAX_BLANKS)] {
            assert_eq!(folded(text, 0), text);
        }
    }

    #[test]
    fn empty_lines_of_a_diff_are_folded_by_their_mark() {
        assert_eq!(
            folded("@@ -1 +1 @@\n+a\n+\n+ \n+\n \n \n-\n-b", 1),
            "@@ -1 +1 @@\n+a\n+⟨3 empty lines⟩\n \n \n-\n-b"
        );
    }
}
