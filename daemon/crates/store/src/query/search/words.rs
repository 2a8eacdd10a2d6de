use std::ops::Range;

/// Further words of a query are ignored.
const MAX_WORDS: usize = 64;

/// A parsed query: phrases of consecutive words. All phrases have to match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    phrases: Vec<Phrase>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Phrase {
    /// In lower case; not empty.
    words: Vec<String>,
    /// The last word may be a prefix: the phrase was not in quotes, or its closing quote is missing.
    is_open: bool,
}

impl Words {
    /// Words in double quotes form a phrase. Text without letters or digits is left out.
    pub(super) fn parse(query: &str) -> Self {
        let mut phrases = Vec::new();
        let mut left = MAX_WORDS;
        let mut parts = query.split('"').enumerate().peekable();
        while let Some((n, part)) = parts.next() {
            let is_quoted = n % 2 == 1;
            let is_open = !is_quoted || parts.peek().is_none();
            let texts: Vec<&str> = if is_quoted { vec![part] } else { part.split_whitespace().collect() };
            for text in texts {
                let words: Vec<String> = tokens(text).take(left).map(|at| text[at].to_lowercase()).collect();
                left -= words.len();
                if !words.is_empty() {
                    phrases.push(Phrase { words, is_open });
                }
            }
        }
        Self { phrases }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }

    /// The FTS5 query: <https://sqlite.org/fts5.html#full_text_query_syntax>. Words contain neither quotes
    /// nor operators.
    pub(super) fn to_match(&self) -> String {
        let phrase = |phrase: &Phrase| {
            let star = if phrase.is_open { "*" } else { "" };
            format!("\"{}\"{star}", phrase.words.join(" "))
        };
        self.phrases.iter().map(phrase).collect::<Vec<_>>().join(" ")
    }

    /// Whether the index would match the text, except that accents count.
    pub(super) fn are_all_in(&self, text: &str) -> bool {
        let there: Vec<String> = tokens(text).map(|at| text[at].to_lowercase()).collect();
        let is_at = |phrase: &Phrase, start: usize| {
            phrase.words.iter().enumerate().all(|(n, word)| {
                let may_go_on = phrase.is_open && n + 1 == phrase.words.len();
                there
                    .get(start + n)
                    .is_some_and(|found| if may_go_on { found.starts_with(word) } else { found == word })
            })
        };
        self.phrases.iter().all(|phrase| (0..there.len()).any(|start| is_at(phrase, start)))
    }

    /// The places of words in a text that begin with a word of the query, and how many different words match.
    pub(super) fn found_in(&self, text: &str) -> (Vec<Range<usize>>, usize) {
        let words: Vec<&String> = self.phrases.iter().flat_map(|phrase| &phrase.words).collect();
        let mut seen = vec![false; words.len()];
        let mut found = Vec::new();
        for at in tokens(text) {
            let token = text[at.clone()].to_lowercase();
            let mut is_one = false;
            for (word, seen) in words.iter().zip(&mut seen) {
                if token.starts_with(word.as_str()) {
                    (is_one, *seen) = (true, true);
                }
            }
            if is_one {
                found.push(at);
            }
        }
        (found, seen.into_iter().filter(|seen| *seen).count())
    }
}

/// The words of a text, divided as the index does: runs of letters and digits.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = chars.by_ref().find(|(_, c)| c.is_alphanumeric())?;
        let mut end = start + first.len_utf8();
        while let Some((at, c)) = chars.next_if(|(_, c)| c.is_alphanumeric()) {
            end = at + c.len_utf8();
        }
        Some(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_becomes_a_match() {
        let cases = [
            ("cargo test", r#""cargo"* "test"*"#),
            ("  Cargo\tTEST ", r#""cargo"* "test"*"#),
            (r#"say "Hello, World" now"#, r#""say"* "hello world" "now"*"#),
            ("foo_bar.rs", r#""foo bar rs"*"#),
            ("a AND NOT b*", r#""a"* "and"* "not"* "b"*"#),
            (r#"not yet "closed one"#, r#""not"* "yet"* "closed one"*"#),
            (r#"-- "!" () ^ "#, ""),
            ("", ""),
        ];
        for (query, wanted) in cases {
            assert_eq!(Words::parse(query).to_match(), wanted, "{query}");
        }
        assert!(Words::parse("?").is_empty());
        assert_eq!(Words::parse(&"a ".repeat(1000)).phrases.len(), MAX_WORDS);
    }

    #[test]
    fn words_match_by_prefix_and_phrases_exactly() {
        let words = Words::parse(r#"rele "the night""#);
        assert!(words.are_all_in("Release in the Night"));
        assert!(!words.are_all_in("Release in the long night"));
        assert!(!words.are_all_in("prerelease, the night"));
        assert!(!words.are_all_in("Release in the nights"));
        assert!(Words::parse(r#""in the ni"#).are_all_in("Release in the nights"), "it is being written");
    }
}
