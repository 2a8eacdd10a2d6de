//! A rule's text.

use crate::{
    Effect, hazard,
    matching::{Pattern, WordPattern},
    path::PathPattern,
};
use std::fmt;

const MAX_BYTES: usize = 4096;
const MAX_WORDS: usize = 64;
/// Of a compiled regular expression, in bytes.
const MAX_REGEX: usize = 1 << 20;

/// A rule, without what it does about the calls that it matches.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    pub(crate) matcher: Matcher,
}

#[derive(Debug, Clone)]
pub(crate) enum Matcher {
    Shell(Pattern),
    ShellText(regex::Regex),
    Read(PathPattern),
    Edit(PathPattern),
}

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    #[error("is no rule: a rule is written as shell(cargo test *), edit(src/**) or read(**/.env)")]
    Form,
    #[error(
        "has the form {0}(…), which comes with a later version; this version has shell(…), edit(…) and read(…)"
    )]
    Later(String),
    #[error("is empty in its brackets: name a command or a path there")]
    Empty,
    #[error("is too long: a rule has at most {MAX_BYTES} bytes and {MAX_WORDS} words")]
    TooLong,
    #[error("has a control character")]
    Control,
    #[error("has a quote that is not closed")]
    Quote,
    #[error("has no valid regular expression: {0}")]
    Regex(String),
    #[error("has no valid path pattern: {0}")]
    Path(String),
    #[error("names an absolute path or leaves the workspace: paths are relative to the workspace")]
    Outside,
    #[error("allows by a regular expression: those can only deny and ask")]
    AllowedRegex,
    #[error(
        "allows a program that is not named plainly: an allowed program is a bare name without *, as in shell(cargo test *)"
    )]
    AllowedProgram,
    #[error(
        "would allow {0} to run anything: name the whole command, or for an interpreter at least the script"
    )]
    AllowedAnything(String),
}

impl Rule {
    /// Parses a rule that is to have this effect.
    ///
    /// # Errors
    /// The text is no rule, or none that may have this effect.
    pub fn parse(text: &str, effect: Effect) -> Result<Self, RuleError> {
        let text = text.trim();
        if text.len() > MAX_BYTES {
            return Err(RuleError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(RuleError::Control);
        }
        let (form, rest) = text.split_once('(').ok_or(RuleError::Form)?;
        let inside = rest.strip_suffix(')').ok_or(RuleError::Form)?.trim();
        if matches!(form, "mcp" | "net" | "browser" | "python") {
            return Err(RuleError::Later(form.to_owned()));
        }
        if inside.is_empty() {
            return Err(RuleError::Empty);
        }
        let matcher = match form {
            "shell" => shell(inside, effect)?,
            "edit" => Matcher::Edit(PathPattern::parse(inside, effect)?),
            "read" => Matcher::Read(PathPattern::parse(inside, effect)?),
            _ => return Err(RuleError::Form),
        };
        Ok(Self { text: text.to_owned(), matcher })
    }

    /// Whether it is about reading this path, which is relative to the workspace.
    #[must_use]
    pub fn is_about_reading(&self, path: &str) -> bool {
        matches!(&self.matcher, Matcher::Read(pattern) if pattern.matches(path))
    }

    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it matches, in words.
    #[must_use]
    pub fn matches(&self) -> String {
        match &self.matcher {
            Matcher::Shell(pattern) if pattern.has_rest => {
                format!("`{}`, alone or with any further words", pattern.shown())
            }
            Matcher::Shell(pattern) => format!("`{}`, exactly", pattern.shown()),
            Matcher::ShellText(_) => "every command whose text the expression finds".to_owned(),
            Matcher::Read(_) => "reading and listing these paths of the workspace".to_owned(),
            Matcher::Edit(_) => "changing these files of the workspace".to_owned(),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn shell(inside: &str, effect: Effect) -> Result<Matcher, RuleError> {
    if let Some(expression) = inside.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
        if effect == Effect::Allow {
            return Err(RuleError::AllowedRegex);
        }
        let regex = regex::RegexBuilder::new(expression).size_limit(MAX_REGEX).build();
        return regex.map(Matcher::ShellText).map_err(|error| {
            let line = error.to_string();
            RuleError::Regex(line.lines().last().unwrap_or_default().trim().to_owned())
        });
    }
    let mut words = words(inside)?;
    if words.len() > MAX_WORDS {
        return Err(RuleError::TooLong);
    }
    let has_rest = words.len() > 1 && words.last().is_some_and(WordPattern::is_any);
    if has_rest {
        words.pop();
    }
    let pattern = Pattern { words, has_rest };
    if effect == Effect::Allow {
        let program = pattern.words.first().and_then(WordPattern::literal).unwrap_or_default();
        if !crate::plain::is_bare_name(program) {
            return Err(RuleError::AllowedProgram);
        }
        if hazard::is_too_wide(program, &pattern) {
            return Err(RuleError::AllowedAnything(program.to_owned()));
        }
    }
    Ok(Matcher::Shell(pattern))
}

/// Splits at blanks. Quotes and backslashes make characters literal; `*` elsewhere stands for any text within
/// a word.
fn words(text: &str) -> Result<Vec<WordPattern>, RuleError> {
    let mut words = Vec::new();
    let mut word: Option<WordPattern> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == ' ' {
            words.extend(word.take());
            continue;
        }
        let word = word.get_or_insert_default();
        match c {
            '\'' | '"' => {
                word.push_str("");
                loop {
                    match chars.next().ok_or(RuleError::Quote)? {
                        end if end == c => break,
                        inner => word.push(inner),
                    }
                }
            }
            '\\' => word.push(chars.next().ok_or(RuleError::Quote)?),
            '*' => word.push_any(),
            c => word.push(c),
        }
    }
    words.extend(word);
    Ok(words)
}
