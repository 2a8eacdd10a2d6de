//! Cuts a text into the pieces of words that the model knows.

mod characters;

use characters::{is_punctuation, plain};
use std::collections::HashMap;

/// The number of pieces that the model knows.
pub(crate) const PIECES: usize = 30_522;
/// The most tokens of a text, with those of its start and end: the model has learned no longer texts. (The
/// published `tokenizer.json` says 128, filled up with empty tokens: that was for its training.)
pub(crate) const TOKENS: usize = 256;

const UNKNOWN: u16 = 100;
const START: u16 = 101;
const END: u16 = 102;
/// Marks a piece that goes on with a word.
const GOES_ON: &str = "##";
/// A longer word is unknown, in characters.
const LONGEST_WORD: usize = 100;

/// The pieces and their numbers.
pub(crate) struct Tokenizer {
    /// Those that begin a word.
    begin: HashMap<Box<str>, u16>,
    /// Those that go on with a word, without the mark.
    go_on: HashMap<Box<str>, u16>,
}

impl Tokenizer {
    /// Takes a piece from each line.
    pub(crate) fn new(vocabulary: &str) -> Self {
        let (mut begin, mut go_on) = (HashMap::with_capacity(PIECES), HashMap::new());
        for (piece, number) in vocabulary.lines().zip(0..) {
            match piece.strip_prefix(GOES_ON) {
                Some(rest) if !rest.is_empty() => go_on.insert(rest.into(), number),
                _ => begin.insert(piece.into(), number),
            };
        }
        Self { begin, go_on }
    }

    /// The numbers of the text's first pieces, between those of the start and the end. What looks like the
    /// name of a token with a meaning of its own, such as `[MASK]`, is text here.
    pub(crate) fn tokens(&self, text: &str) -> Vec<u16> {
        let mut tokens = vec![START];
        let mut word = Word::default();
        for c in plain(text) {
            if tokens.len() >= TOKENS {
                break;
            }
            let parts = is_punctuation(c) || c.is_whitespace();
            if parts {
                self.add(&mut word, &mut tokens);
            }
            if !c.is_whitespace() {
                word.push(c);
            }
            if parts {
                self.add(&mut word, &mut tokens);
            }
        }
        self.add(&mut word, &mut tokens);
        tokens.truncate(TOKENS - 1);
        tokens.push(END);
        tokens
    }

    /// Adds the pieces of the word, and empties it. If a part of the word is no piece, the word is unknown.
    fn add(&self, word: &mut Word, tokens: &mut Vec<u16>) {
        let before = tokens.len();
        let mut rest = word.text.as_str();
        while !rest.is_empty() {
            let pieces = if tokens.len() == before { &self.begin } else { &self.go_on };
            let longest = (1..=rest.len()).rev().find_map(|end| {
                let piece = pieces.get(rest.get(..end)?)?;
                Some((*piece, end))
            });
            let (piece, end) =
                longest.filter(|_| word.length <= LONGEST_WORD).unwrap_or((UNKNOWN, rest.len()));
            if piece == UNKNOWN {
                tokens.truncate(before);
            }
            tokens.push(piece);
            rest = &rest[end..];
        }
        *word = Word::default();
    }
}

/// A word that is being read. Of one that is too long only the length goes on.
#[derive(Default)]
struct Word {
    text: String,
    /// In characters.
    length: usize,
}

impl Word {
    fn push(&mut self, c: char) {
        self.length += 1;
        if self.length <= LONGEST_WORD {
            self.text.push(c);
        }
    }
}

#[cfg(test)]
mod tests;
