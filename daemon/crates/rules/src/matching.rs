//! Matches the words of a command against those of a rule.

use crate::{Word, hazard};

/// The words of a `shell` rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// The program first.
    pub(crate) words: Vec<WordPattern>,
    /// It ends with ` *`: any further words, or none.
    pub(crate) has_rest: bool,
}

/// One word of a rule: literal texts, between any two of them any text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WordPattern(Vec<String>);

impl Default for WordPattern {
    fn default() -> Self {
        Self(vec![String::new()])
    }
}

impl WordPattern {
    pub(crate) fn push(&mut self, c: char) {
        if let Some(last) = self.0.last_mut() {
            last.push(c);
        }
    }

    pub(crate) fn push_str(&mut self, text: &str) {
        if let Some(last) = self.0.last_mut() {
            last.push_str(text);
        }
    }

    pub(crate) fn push_any(&mut self) {
        self.0.push(String::new());
    }

    /// It is `*`.
    pub(crate) fn is_any(&self) -> bool {
        self.0.len() == 2 && self.0.iter().all(String::is_empty)
    }

    pub(crate) fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [text] => Some(text),
            _ => None,
        }
    }

    /// Whether it matches, where `*` stands for no text with one of the characters in `not`.
    fn matches(&self, word: &str, not: &[char]) -> bool {
        let (first, rest) = match self.0.split_first() {
            Some((only, [])) => return only == word,
            Some(split) => split,
            None => return false,
        };
        let Some(mut word) = word.strip_prefix(first.as_str()) else { return false };
        let Some((last, middle)) = rest.split_last() else { return false };
        for part in middle {
            let Some(at) = word.find(part.as_str()) else { return false };
            if word[..at].contains(not) {
                return false;
            }
            word = &word[at + part.len()..];
        }
        word.strip_suffix(last.as_str()).is_some_and(|between| !between.contains(not))
    }

    fn shown(&self) -> String {
        self.0.join("*")
    }
}

impl Pattern {
    /// Without the ` *` at its end.
    pub(crate) fn shown(&self) -> String {
        self.words.iter().map(WordPattern::shown).collect::<Vec<_>>().join(" ")
    }

    /// For a rule that allows: every word matches one word, in order. What the `*` of a rule covers has no
    /// `..`, and is no option that runs another program or writes a file.
    pub(crate) fn allows(&self, words: &[String]) -> bool {
        let (named, further) = words.split_at(self.words.len().min(words.len()));
        let fits = |(pattern, word): (&WordPattern, &String)| {
            pattern.literal() == Some(word)
                || pattern.matches(word, &['/']) && !word.split('/').any(|part| part == "..")
        };
        if named.len() < self.words.len() || !self.words.iter().zip(named).all(fits) {
            return false;
        }
        let Some(program) = words.first() else { return false };
        let is_covered = |at: usize| self.words.get(at).is_none_or(|pattern| pattern.literal().is_none());
        (self.has_rest || further.is_empty()) && !hazard::of(program, words).into_iter().any(is_covered)
    }

    /// For a rule that denies or asks: whether it matches these words. Options may stand between the words of
    /// the rule, each with a value.
    pub(crate) fn finds(&self, words: &[Word]) -> bool {
        self.search(words, false)
    }

    /// Whether it would match if the words that are unknown were the right ones.
    pub(crate) fn may_find(&self, words: &[Word]) -> bool {
        words.contains(&Word::Unknown) && self.search(words, true)
    }

    /// Goes through the words once for each word of the rule, and keeps the positions that are reached.
    fn search(&self, words: &[Word], with_unknown: bool) -> bool {
        let is_unknown = |at: usize| with_unknown && words.get(at) == Some(&Word::Unknown);
        let mut reached = vec![false; words.len() + 1];
        reached[0] = true;
        for (index, pattern) in self.words.iter().enumerate() {
            let mut next = vec![false; words.len() + 1];
            for at in 0..=words.len() {
                if !reached[at] {
                    continue;
                }
                match words.get(at) {
                    Some(Word::Literal(word)) => {
                        let fits =
                            if index == 0 { program_fits(pattern, word) } else { pattern.matches(word, &[]) };
                        next[at + 1] |= fits;
                        if index > 0 && word.starts_with('-') {
                            reached[at + 1] = true;
                            if at + 2 <= words.len() {
                                reached[at + 2] = true;
                            }
                        }
                    }
                    // It may be no word, this one, or this one and further ones.
                    Some(Word::Unknown) if with_unknown => {
                        reached[at + 1] = true;
                        next[at] = true;
                        next[at + 1] = true;
                    }
                    _ => {}
                }
            }
            reached = next;
        }
        if self.has_rest {
            return reached.contains(&true);
        }
        (0..=words.len()).any(|at| reached[at] && (at..words.len()).all(is_unknown))
    }
}

/// A rule that names a program without its folder means it in every folder.
fn program_fits(pattern: &WordPattern, word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    pattern.matches(word, &[])
        || pattern.literal().is_none_or(|text| !text.contains('/')) && pattern.matches(name, &[])
}
