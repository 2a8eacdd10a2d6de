//! Cuts a text into parts that say one thing each.

use super::PARTS;

/// Paragraphs are put together up to this many characters.
const FULL: usize = 600;
/// A longer paragraph is cut.
const LONGEST: usize = 800;
/// A part with fewer words says nothing.
const WORDS: usize = 3;

/// The parts of a text, in order; what is behind the sixteenth is left out.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut open = 0;
    for paragraph in text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
        for piece in pieces(paragraph) {
            let length = piece.chars().count();
            match parts.last_mut().filter(|_| open > 0 && open + 2 + length <= FULL) {
                Some(part) => {
                    part.push_str("\n\n");
                    part.push_str(piece);
                    open += 2 + length;
                }
                None => {
                    parts.push(piece.to_owned());
                    open = length;
                }
            }
        }
        if parts.len() > PARTS as usize * 2 {
            break;
        }
    }
    parts.retain(|part| part.split_whitespace().nth(WORDS - 1).is_some());
    parts.truncate(PARTS as usize);
    parts
}

/// A paragraph cut at its blanks, or within a word that is too long.
fn pieces(paragraph: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = paragraph;
    while let Some((end, _)) = rest.char_indices().nth(LONGEST) {
        let at = rest[..end].rfind(char::is_whitespace).filter(|at| *at > end / 2).unwrap_or(end);
        let (piece, more) = rest.split_at(at);
        pieces.push(piece.trim_end());
        rest = more.trim_start();
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(text: &str) -> Vec<usize> {
        split(text).iter().map(|part| part.chars().count()).collect()
    }

    #[test]
    fn paragraphs_are_put_together_and_long_ones_cut() {
        let words = |n: usize| "wörd ".repeat(n).trim().to_owned();
        let cases = [
            (String::new(), vec![]),
            ("two words".to_owned(), vec![]),
            ("  three little words \n".to_owned(), vec![18]),
            (format!("{}\n\n{}", words(20), words(20)), vec![200]),
            (format!("{}\n\n{}", words(100), words(100)), vec![499, 499]),
            (words(150), vec![749]),
            (words(300), vec![799, 699]),
            ("x".repeat(2000), vec![]),
        ];
        for (text, expected) in cases {
            assert_eq!(lengths(&text), expected, "{text:.40}");
        }
        assert_eq!(split(&format!("{}\n\n", words(100)).repeat(40)).len(), PARTS as usize);
    }
}
