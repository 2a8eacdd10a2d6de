//! Finds the matches of a search in the text of a message as it is shown.

use std::ops::Range;

/// The phrases of a search, each of words in lower case. A place where one of them stands is a match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Phrases(Vec<Vec<String>>);

impl Phrases {
    /// Reads a query as the daemon does: single words, and in double quotes words that have to follow one
    /// another.
    pub(super) fn of_query(query: &str) -> Self {
        let parts = query.split('"').enumerate();
        let phrases = parts.flat_map(|(n, part)| match n % 2 {
            0 => part.split_whitespace().map(words).collect(),
            _ => vec![words(part)],
        });
        Self(phrases.filter(|phrase| !phrase.is_empty()).collect())
    }

    /// One phrase: these words have to follow one another.
    pub(super) fn in_order(query: &str) -> Self {
        Self([words(query)].into_iter().filter(|phrase| !phrase.is_empty()).collect())
    }

    /// The matches, ignoring case; none within another.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        // Most places are ruled out by their letter; one that is not ASCII may become another in lower case.
        let firsts: Vec<char> = self.0.iter().filter_map(|words| words.first()?.chars().next()).collect();
        let may_begin = |c: char| !c.is_ascii() || firsts.contains(&c.to_ascii_lowercase());
        let mut found: Vec<Range<usize>> = Vec::new();
        for (at, _) in text.char_indices().filter(|(_, c)| may_begin(*c)) {
            if found.last().is_some_and(|last| at < last.end) {
                continue;
            }
            let longest = self.0.iter().filter_map(|phrase| follow(&text[at..], phrase)).max();
            found.extend(longest.map(|length| at..at + length));
        }
        found
    }
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The length in bytes of these words at the start of the text, if they are there: between them there are no
/// letters or digits.
fn follow(text: &str, words: &[String]) -> Option<usize> {
    let mut length = 0;
    for (n, word) in words.iter().enumerate() {
        let rest = &text[length..];
        let gap = rest.find(char::is_alphanumeric).unwrap_or(rest.len());
        if (n == 0) != (gap == 0) {
            return None;
        }
        length += gap + begins(&rest[gap..], word)?;
    }
    (length > 0).then_some(length)
}

/// The length in bytes of this lower-case word at the start of the text, if it is there.
fn begins(text: &str, word: &str) -> Option<usize> {
    let mut wanted = word.chars().peekable();
    for (at, c) in text.char_indices() {
        if wanted.peek().is_none() {
            return Some(at);
        }
        for lower in c.to_lowercase() {
            if wanted.next() != Some(lower) {
                return None;
            }
        }
    }
    wanted.peek().is_none().then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whatever_their_case() {
        let words = Phrases::of_query("flaky ä");
        assert_eq!(words.find("Flaky, flakyflaky Ä"), [0..5, 7..12, 12..17, 18..20]);
        assert!(words.find("flak").is_empty());
        // The Kelvin sign, whose lower case is ASCII.
        assert_eq!(Phrases::of_query("kelvin").find("5 \u{212a}elvin").first(), Some(&(2..10)));
        assert!(Phrases::of_query("? \"").find("anything?").is_empty());
    }

    #[test]
    fn words_in_order_are_found_only_side_by_side() {
        for phrase in [Phrases::in_order("login test"), Phrases::of_query("\"login test\"")] {
            assert_eq!(
                phrase.find("a login, a test; Login\n`test`s; login-test, logintest"),
                [17..28, 32..42]
            );
        }
        assert_eq!(Phrases::of_query("say \"login te").find("login test, say"), [0..8, 12..15]);
    }
}
