use std::{fmt, io, ops::Range, path::PathBuf};
use toml_edit::{Document, Key, TableLike};

/// Why a configuration is refused.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read {}: {source}; make it readable, or move it away to start with the defaults", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is larger than 1 MiB: it is not a configuration file; move it away to start with the defaults", path.display())]
    TooLarge { path: PathBuf },
    #[error("{}, {problem}", path.display())]
    Wrong { path: PathBuf, problem: Problem },
}

impl ConfigError {
    /// The problem in the text, if it is one.
    #[must_use]
    pub const fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Wrong { problem, .. } => Some(problem),
            Self::Read { .. } | Self::TooLarge { .. } => None,
        }
    }
}

/// A problem in the file's text. Never quotes the value of an unknown key, which may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// From 1; `None` if the line is unknown.
    pub line: Option<usize>,
    /// Dotted; `None` if unknown.
    pub key: Option<String>,
    /// What is wrong with it.
    pub what: String,
    /// What to do about it.
    pub advice: String,
}

impl Problem {
    pub(super) fn new(key: impl Into<String>, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { line: None, key: Some(key.into()), what: what.into(), advice: advice.into() }
    }

    pub(super) fn of_toml(text: &str, error: &toml::de::Error) -> Self {
        Self::at(text, error.span(), error.message())
    }

    pub(super) fn of_edit(text: &str, error: &toml_edit::TomlError) -> Self {
        Self::at(text, error.span(), error.message())
    }

    /// With the line of its key, if it has none yet. The line of a missing key is that of the table that
    /// should have it.
    pub(super) fn located(self, text: &str) -> Self {
        let line = self.line.or_else(|| line_of_key(text, self.key.as_deref()?));
        Self { line, ..self }
    }

    fn at(text: &str, span: Option<Range<usize>>, message: &str) -> Self {
        let line = span.map(|span| line_of(text, &span));
        let key = line.and_then(|line| key_in(text, line));
        let secret = key.as_deref().is_some_and(|key| key.ends_with("api_key"));
        let advice = if secret {
            "a key does not belong in this file: remove the line and run `abide key set PROVIDER`"
        } else {
            "correct it, or remove it for the default"
        };
        let what = in_words(&message.trim().replace('\n', ", "), key.as_deref());
        Self { line, key, what, advice: advice.to_owned() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if let Some(key) = &self.key {
            write!(f, "`{key}`: ")?;
        }
        write!(f, "{}; {}", self.what, self.advice)
    }
}

impl std::error::Error for Problem {}

pub(super) fn line_of(text: &str, span: &Range<usize>) -> usize {
    text.bytes().take(span.start).filter(|b| *b == b'\n').count() + 1
}

/// The line of a dotted key, or of the innermost table around it.
fn line_of_key(text: &str, key: &str) -> Option<usize> {
    let document = Document::parse(text).ok()?;
    let mut table: &dyn TableLike = document.as_table();
    let mut found = None;
    for part in Key::parse(key).ok()? {
        let Some((key, item)) = table.get_key_value(part.get()) else { break };
        found = key.span();
        let Some(inner) = item.as_table_like() else { break };
        table = inner;
    }
    found.map(|span| line_of(text, &span))
}

/// The parser's message with what a person writes in place of the name of a Rust type.
fn in_words(message: &str, key: Option<&str>) -> String {
    const EXPECTED: &str = ", expected ";
    let Some((found, expected)) = message.rsplit_once(EXPECTED) else { return message.to_owned() };
    let wanted = match (expected, key) {
        ("u8" | "u16" | "u32" | "u64" | "usize", _) => "a whole number, at least 0".to_owned(),
        ("f64", _) => "a number".to_owned(),
        ("a sequence", _) => "a list, as `[\"…\"]`".to_owned(),
        (table, Some(key)) if is_table(table) => format!("a table, as `[{key}]`"),
        (table, None) if is_table(table) => "a table".to_owned(),
        _ => return message.to_owned(),
    };
    format!("{found}{EXPECTED}{wanted}")
}

fn is_table(expected: &str) -> bool {
    expected == "a map" || expected.starts_with("struct ")
}

/// The dotted key on this line, with its table.
fn key_in(text: &str, line: usize) -> Option<String> {
    let header = |l: &str| {
        let l = l.trim();
        l.starts_with('[').then(|| l.trim_matches(['[', ']', ' ']).to_owned())
    };
    let this = text.lines().nth(line - 1)?;
    if let Some(table) = header(this) {
        return Some(table);
    }
    let key = this.split_once('=')?.0.trim();
    let table = text.lines().take(line - 1).filter_map(header).last();
    Some(table.map_or_else(|| key.to_owned(), |table| format!("{table}.{key}")))
}
