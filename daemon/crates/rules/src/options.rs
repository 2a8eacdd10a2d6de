//! Options of programs, as they are written among the words of a command.

use crate::Word;

/// Some options of some programs.
pub(crate) struct Options {
    pub(crate) programs: &'static [&'static str],
    /// Without the `--`. An abbreviation counts as the option.
    pub(crate) long: &'static [&'static str],
    /// Letters after one `-`, also among others.
    pub(crate) letters: &'static str,
    /// Beginnings of whole words.
    pub(crate) words: &'static [&'static str],
    /// So many words that are no options are harmless.
    pub(crate) operands: Option<usize>,
}

pub(crate) const fn options(
    programs: &'static [&'static str],
    long: &'static [&'static str],
    letters: &'static str,
) -> Options {
    Options { programs, long, letters, words: &[], operands: None }
}

/// Options without a `--`, by the beginnings of the words.
pub(crate) const fn beginnings(programs: &'static [&'static str], words: &'static [&'static str]) -> Options {
    Options { words, ..options(programs, &[], "") }
}

impl Options {
    pub(crate) fn has(&self, word: &str) -> bool {
        self.value(word).is_some()
    }

    /// What this word holds of the option's value, if it is one of the options: nothing where the next word
    /// is the value.
    pub(crate) fn value<'a>(&self, word: &'a str) -> Option<&'a str> {
        if let Some(rest) = self.words.iter().find_map(|named| word.strip_prefix(named)) {
            return Some(rest.strip_prefix('=').unwrap_or(rest));
        }
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long.split_once('=').unwrap_or((long, ""));
            let is_named = |option: &&str| option.starts_with(name) || name.starts_with(*option);
            return (!name.is_empty() && self.long.iter().any(is_named)).then_some(value);
        }
        let letters = word.strip_prefix('-')?;
        let at = letters.find(|c| self.letters.contains(c))?;
        letters[at..].char_indices().nth(1).map_or(Some(""), |(next, _)| letters.get(at + next..))
    }

    /// The values of these options among the words of a command; `None` for one that is not known.
    pub(crate) fn values<'a>(&self, words: &'a [Word]) -> impl Iterator<Item = Option<&'a str>> {
        words.iter().enumerate().filter_map(|(at, word)| match self.value(word.literal()?)? {
            "" => words.get(at + 1).map(Word::literal),
            value => Some(Some(value)),
        })
    }
}
