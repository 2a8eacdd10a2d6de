//! Plain commands: one program by its bare name, and words that are known before they run.

use crate::script::{Redirect, Script, Simple, Target};

/// Variables that a plain command may set for its program. None of them names a program, a library or a file.
const VARIABLES: [&str; 14] = [
    "CARGO_INCREMENTAL",
    "CARGO_TERM_COLOR",
    "CI",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "LINES",
    "NO_COLOR",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// A command that can be executed without a shell, and does the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// The program's name first.
    pub words: Vec<String>,
    pub environment: Vec<(String, String)>,
    pub output: Output,
}

/// Where its output goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Output {
    /// Stdout goes to `/dev/null`.
    pub is_stdout_dropped: bool,
    pub stderr: Stderr,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stderr {
    #[default]
    Own,
    /// It goes where stdout went before it was redirected.
    ToStdout,
    Dropped,
}

impl Plain {
    /// The line as a plain command, if it is one.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        Self::of(&Script::parse(line.trim()).ok()?)
    }

    /// The script's command, if it is one plain command.
    #[must_use]
    pub fn of(script: &Script) -> Option<Self> {
        let [Simple { assignments, words }] = script.commands.as_slice() else { return None };
        if !script.is_flat || !script.is_single {
            return None;
        }
        let words: Vec<String> =
            words.iter().map(|word| word.literal().map(str::to_owned)).collect::<Option<_>>()?;
        if !words.first().is_some_and(|name| is_bare_name(name)) {
            return None;
        }
        let environment = assignments
            .iter()
            .map(|(name, value)| {
                let value = value.literal().filter(|value| is_plain_value(value))?;
                VARIABLES.contains(&name.as_str()).then(|| (name.clone(), value.to_owned()))
            })
            .collect::<Option<_>>()?;
        Some(Self { words, environment, output: output(&script.redirects)? })
    }

    #[must_use]
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

/// A name that is searched on the `PATH`.
pub(crate) fn is_bare_name(name: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && name.chars().all(is_name)
}

fn is_plain_value(value: &str) -> bool {
    value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ',' | ':' | '=' | '-'))
}

/// Takes the redirects in their order. They can only drop output, and join stderr to stdout.
fn output(redirects: &[Redirect]) -> Option<Output> {
    let mut output = Output::default();
    for Redirect { descriptor, operator, target } in redirects {
        let Target::Named(target) = target else { return None };
        match (descriptor.as_deref(), operator.as_str(), target.as_str()) {
            (None | Some("0"), "<", "/dev/null") => {}
            (None | Some("1"), ">" | ">>", "/dev/null") => output.is_stdout_dropped = true,
            (Some("2"), ">" | ">>", "/dev/null") => output.stderr = Stderr::Dropped,
            (None, "&>" | "&>>", "/dev/null") => {
                output = Output { is_stdout_dropped: true, stderr: Stderr::Dropped };
            }
            (Some("2"), ">&", "1") if output.is_stdout_dropped => output.stderr = Stderr::Dropped,
            (Some("2"), ">&", "1") => output.stderr = Stderr::ToStdout,
            _ => return None,
        }
    }
    Some(output)
}
