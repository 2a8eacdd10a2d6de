//! Finds comments, strings, numbers and keywords.

use super::languages::{Language, Shape};

/// The kind of a part of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Comment,
    String,
    Number,
    Keyword,
    Added,
    Removed,
}

/// A part of code; its kind is `None` for plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    pub kind: Option<Kind>,
    pub text: &'a str,
}

/// All of the code, in parts.
pub fn parts<'a>(source: &'a str, language: &'static Language) -> impl Iterator<Item = Part<'a>> {
    let mut lexer = Lexer {
        source,
        language,
        at: 0,
        plain: 0,
        found: None,
        line: 0,
        is_first: true,
        without_end: String::new(),
    };
    std::iter::from_fn(move || lexer.next())
}

struct Lexer<'a> {
    source: &'a str,
    language: &'static Language,
    at: usize,
    /// The start of text without a kind.
    plain: usize,
    found: Option<Part<'a>>,
    /// The end of the line.
    line: usize,
    /// Only white space and a list mark precede this on its line.
    is_first: bool,
    /// Quotes without another one on this line, so that a long line is not searched repeatedly.
    without_end: String,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Option<Part<'a>> {
        if let Some(found) = self.found.take() {
            return Some(found);
        }
        while self.at < self.source.len() {
            let from = self.at;
            if from >= self.line {
                self.line = self.source[from..].find('\n').map_or(self.source.len(), |n| from + n);
                self.without_end.clear();
            }
            let (kind, length) = self.token();
            self.at = self.source.ceil_char_boundary(from + length.max(1));
            self.follow(from);
            let Some(kind) = kind else { continue };
            let part = Part { kind: Some(kind), text: &self.source[from..self.at] };
            let before = &self.source[self.plain..from];
            self.plain = self.at;
            if before.is_empty() {
                return Some(part);
            }
            self.found = Some(part);
            return Some(Part { kind: None, text: before });
        }
        let rest = &self.source[self.plain..];
        self.plain = self.source.len();
        (!rest.is_empty()).then_some(Part { kind: None, text: rest })
    }

    /// The kind and length in bytes of the token that begins here.
    fn token(&mut self) -> (Option<Kind>, usize) {
        let rest = &self.source[self.at..];
        let line = self.line - self.at;
        if self.language.shape == Shape::Diff {
            return (in_diff(rest), (line + 1).min(rest.len()));
        }
        if let Some(length) = self.comment(rest, line) {
            return (Some(Kind::Comment), length);
        }
        if let Some((is_key, length)) = self.string(rest, line) {
            return (Some(if is_key { Kind::Keyword } else { Kind::String }), length);
        }
        let Some(first) = rest.chars().next() else { return (None, 1) };
        if self.language.shape == Shape::Tags && first == '<' {
            let head = rest[1..].strip_prefix('/').map_or(1, |_| 2);
            let name = word(&rest[head..], |c| c.is_alphanumeric() || c == '-');
            return (Some(Kind::Keyword).filter(|_| name > 0), head + name);
        }
        if self.language.shape == Shape::Keys && self.is_first {
            let name = word(rest, |c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
            let after = rest[name..].trim_start_matches([' ', '\t']);
            if name > 0 && after.starts_with([':', '=']) {
                return (Some(Kind::Keyword), name);
            }
        }
        if first.is_ascii_digit() {
            let is_of = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
            // The dots of `0..9` do not belong to the number.
            let length = word(rest, is_of);
            let length = rest[..length].find("..").unwrap_or(length);
            return (Some(Kind::Number), length);
        }
        let length = word(rest, |c| c.is_alphanumeric() || c == '_');
        if length == 0 {
            return (None, first.len_utf8());
        }
        let is_keyword = self.language.shape != Shape::Tags && self.is_keyword(&rest[..length]);
        (is_keyword.then_some(Kind::Keyword), length)
    }

    fn is_keyword(&self, word: &str) -> bool {
        let is_sql = self.language.names[0] == "sql";
        self.language
            .keywords
            .split(' ')
            .any(|known| known == word || (is_sql && known.eq_ignore_ascii_case(word)))
    }

    /// Tracks whether the next token is still the first of its line.
    fn follow(&mut self, from: usize) {
        let read = &self.source[from..self.at];
        let (is_first, read) = match read.rsplit_once('\n') {
            Some((_, read)) => (true, read),
            None => (self.is_first, read),
        };
        self.is_first = is_first && read.chars().all(|c| matches!(c, ' ' | '\t' | '-' | '{' | ','));
    }

    fn comment(&self, rest: &str, line: usize) -> Option<usize> {
        if let Some((open, close)) = self.language.block
            && rest.starts_with(open)
        {
            let end = rest[open.len()..].find(close).map(|end| open.len() + end + close.len());
            return Some(end.unwrap_or(rest.len()));
        }
        let is_comment = self.language.line.iter().any(|mark| rest.starts_with(mark));
        let before = self.source[..self.at].chars().next_back();
        let is_alone = before.is_none_or(char::is_whitespace);
        // A `#` within `$#` or a `;` at the end of a value begins no comment.
        let needs_room = matches!(self.language.shape, Shape::Shell | Shape::Keys);
        (is_comment && (is_alone || !needs_room)).then_some(line)
    }

    /// The length of a string, and whether it is a key.
    fn string(&mut self, rest: &str, line: usize) -> Option<(bool, usize)> {
        let first = rest.chars().next()?;
        let shape = self.language.shape;
        if shape == Shape::Rust {
            if let Some(length) = raw_string(rest) {
                return Some((false, length));
            }
            if first == '\'' {
                return character(rest).map(|length| (false, length));
            }
        }
        if shape == Shape::TripleQuotes {
            for quotes in ["\"\"\"", "'''"] {
                if let Some(inner) = rest.strip_prefix(quotes) {
                    return Some((false, inner.find(quotes).map_or(rest.len(), |end| end + 6)));
                }
            }
        }
        if self.language.long_quotes.contains(first) {
            return Some((false, quoted(rest, first).unwrap_or(rest.len())));
        }
        if !self.language.quotes.contains(first) || self.without_end.contains(first) {
            return None;
        }
        let Some(length) = quoted(&rest[..line], first) else {
            // It is an apostrophe.
            self.without_end.push(first);
            return None;
        };
        let is_key = shape == Shape::Keys && rest[length..].trim_start().starts_with(':');
        Some((is_key, length))
    }
}

fn in_diff(line: &str) -> Option<Kind> {
    match line.as_bytes().first() {
        Some(b'+') => Some(Kind::Added),
        Some(b'-') => Some(Kind::Removed),
        Some(b'@') => Some(Kind::Comment),
        _ => None,
    }
}

fn word(text: &str, is_of: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_of(c)).unwrap_or(text.len())
}

/// The length up to the same quote, except one after a backslash.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut is_hidden = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let is_end = *c == quote && !is_hidden;
        is_hidden = *c == '\\' && !is_hidden;
        is_end
    });
    end.map(|(at, c)| at + c.len_utf8())
}

/// `r"…"`, `br##"…"##`.
fn raw_string(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('b').unwrap_or(text).strip_prefix('r')?;
    let hashes = inner.len() - inner.trim_start_matches('#').len();
    let inner = inner[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let from = text.len() - inner.len();
    Some(inner.find(&close).map_or(text.len(), |end| from + end + close.len()))
}

/// `'x'`, `'\n'`; but not `'a` of a lifetime.
fn character(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        let end = text.char_indices().skip(3).take(10).find(|(_, c)| *c == '\'');
        return end.map(|(at, _)| at + 1);
    }
    chars.next().filter(|(_, c)| *c == '\'').map(|(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::{super::languages::named, *};
    use Kind::{Added, Comment, Keyword, Number, Removed, String};

    fn kinds<'a>(language: &str, source: &'a str) -> Vec<(Kind, &'a str)> {
        let all: Vec<Part<'a>> = parts(source, named(language).unwrap()).collect();
        assert_eq!(all.iter().map(|part| part.text).collect::<std::string::String>(), source);
        all.into_iter().filter_map(|part| Some((part.kind?, part.text))).collect()
    }

    #[test]
    fn rust() {
        let source =
            "pub fn f<'a>(x: &'a str) -> char { // why\n  let s = r#\"a \"b\" c\"#; 'x'; '\\n'; 0..0x1F }";
        assert_eq!(
            kinds("rust", source),
            [
                (Keyword, "pub"),
                (Keyword, "fn"),
                (Comment, "// why"),
                (Keyword, "let"),
                (String, "r#\"a \"b\" c\"#"),
                (String, "'x'"),
                (String, "'\\n'"),
                (Number, "0"),
                (Number, "0x1F"),
            ]
        );
        assert_eq!(
            kinds("rust", "/* two\nlines */ \"a \\\" b\nc\""),
            [(Comment, "/* two\nlines */"), (String, "\"a \\\" b\nc\"")]
        );
    }

    #[test]
    fn python_and_shell() {
        assert_eq!(
            kinds("python", "def f():\n    '''why\nso'''\n    return x1 # it's"),
            [(Keyword, "def"), (String, "'''why\nso'''"), (Keyword, "return"), (Comment, "# it's")]
        );
        assert_eq!(
            kinds("sh", "if [ $# -gt 1 ]; then echo \"a # b\" # say\nfi"),
            [
                (Keyword, "if"),
                (Number, "1"),
                (Keyword, "then"),
                (String, "\"a # b\""),
                (Comment, "# say"),
                (Keyword, "fi")
            ]
        );
    }

    #[test]
    fn names_of_values_and_tags() {
        assert_eq!(
            kinds("json", "{\"a\": \"b\", \"c\": [1, true]}"),
            [(Keyword, "\"a\""), (String, "\"b\""), (Keyword, "\"c\""), (Number, "1"), (Keyword, "true")]
        );
        assert_eq!(
            kinds("toml", "name = \"x\" # y\nurl = 'http://a;b'"),
            [
                (Keyword, "name"),
                (String, "\"x\""),
                (Comment, "# y"),
                (Keyword, "url"),
                (String, "'http://a;b'")
            ]
        );
        assert_eq!(
            kinds("html", "<p class=\"a\">don't</p>"),
            [(Keyword, "<p"), (String, "\"a\""), (Keyword, "</p")]
        );
    }

    #[test]
    fn a_diff_has_two_colours() {
        assert_eq!(
            kinds("diff", "@@ -1 +1 @@\n-a\n+b\n c"),
            [(Comment, "@@ -1 +1 @@\n"), (Removed, "-a\n"), (Added, "+b\n")]
        );
    }

    #[test]
    fn whatever_it_is_nothing_is_lost() {
        for source in ["", "'", "\"", "r#\"", "/*", "日本'語\"", "\\", "'\\", "a\u{301}1", "<", "</", "--[["]
        {
            for language in ["rust", "python", "js", "sh", "json", "html", "sql", "lua", "diff", "toml"] {
                let _ = kinds(language, source);
            }
        }
    }

    /// Reading time grows linearly with the code: nothing is searched repeatedly.
    #[test]
    fn a_long_line_without_an_end_is_read_in_time() {
        for hostile in [
            "'".repeat(30_000),
            "\"a".repeat(15_000),
            "r#".repeat(15_000),
            "/*".repeat(15_000),
            "\\'".repeat(15_000),
            "1,".repeat(15_000),
        ] {
            for language in ["rust", "python", "js", "json", "yaml"] {
                let began = std::time::Instant::now();
                let _ = kinds(language, &hostile);
                assert!(began.elapsed().as_millis() < 500, "{language} {:?}", &hostile[..4]);
            }
        }
    }
}
