//! What the rules say about a call.

use super::explain::does_not_count;
use crate::{
    command,
    text::one_line,
    tool::{Call, CallError, Subject},
    workspace::Workspace,
};
use abide_protocol::{
    inbox::WiderRule,
    record::{Direct, DirectOutput},
};
use abide_rules::{Book, Offer, PathVerdict, Plain, Source, Standing, Stderr, Verdict};
use std::path::PathBuf;

/// The longest name of a program that is shown, in characters.
const SHOWN: usize = 200;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Ruling {
    #[default]
    None,
    /// A rule that allows matches, but does not count here.
    NotAllowed {
        why: String,
    },
    Denied {
        rule: String,
    },
    Asks {
        rule: String,
        why: String,
        /// A rule may deny the call: a person decides, whatever the task's approvals are.
        may_be_denied: bool,
    },
    Allowed {
        rule: String,
        /// How the shell command is executed.
        direct: Option<Box<Direct>>,
    },
}

/// Why a rule that allows does not count for a call that it matches.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotAllowed {
    #[error("this folder holds more than one project")]
    Broad,
    #[error("there is no program `{0}` on the `PATH`")]
    NoProgram(String),
    #[error("the task could have written its program, {0}")]
    Writable(String),
}

/// Where programs are found, and which of them tasks may have written.
#[derive(Clone, Copy)]
pub(super) struct Programs<'a> {
    /// The commands' `PATH`.
    pub(super) path: Option<&'a str>,
    pub(crate) workspace: &'a Workspace,
    /// Folders that commands may write to besides the workspace.
    pub(crate) writable: &'a [PathBuf],
}

impl Programs<'_> {
    /// The program of a command that a rule allows.
    pub(crate) fn allowed(&self, plain: &Plain) -> Result<String, NotAllowed> {
        if self.workspace.is_broad() {
            return Err(NotAllowed::Broad);
        }
        let name = plain.program();
        let program =
            command::find(name, self.path).ok_or_else(|| NotAllowed::NoProgram(one_line(name, SHOWN)))?;
        if command::is_trusted(program.as_ref(), self.workspace, self.writable) {
            Ok(program)
        } else {
            Err(NotAllowed::Writable(one_line(&program, SHOWN)))
        }
    }
}

impl Ruling {
    pub(super) fn of(book: &Book, call: &dyn Call, programs: &Programs<'_>) -> Result<Self, CallError> {
        if book.is_empty() {
            return Ok(Self::None);
        }
        let workspace = programs.workspace;
        Ok(match call.subject() {
            Subject::Nothing | Subject::Code => Self::None,
            Subject::Line(line) => Self::of_line(book.shell(line), programs),
            Subject::Read(path) => Self::of_path(&book.read(&names(&workspace.names(path)?)), workspace),
            Subject::Edit(path) => Self::of_path(&book.edit(&names(&workspace.names(path)?)), workspace),
        })
    }

    fn of_line(verdict: Verdict<'_>, programs: &Programs<'_>) -> Self {
        match verdict {
            Verdict::None => Self::None,
            Verdict::Deny(standing) => Self::denied(standing),
            Verdict::MayDeny(standing, unclear) => Self::Asks {
                rule: standing.rule.text().to_owned(),
                why: format!("{} denies, and may match: {unclear}", named(standing)),
                may_be_denied: true,
            },
            Verdict::Ask(standing, None) => Self::asks(standing),
            Verdict::Ask(standing, Some(unclear)) => Self::Asks {
                rule: standing.rule.text().to_owned(),
                why: format!("{} asks, and may match: {unclear}", named(standing)),
                may_be_denied: false,
            },
            Verdict::Allow(standing, plain) => match programs.allowed(&plain) {
                Ok(program) => Self::Allowed {
                    rule: standing.rule.text().to_owned(),
                    direct: Some(Box::new(direct(plain, program))),
                },
                Err(why) => Self::not_allowed(standing, &why),
            },
        }
    }

    fn of_path(verdict: &PathVerdict<'_>, workspace: &Workspace) -> Self {
        match verdict {
            PathVerdict::None => Self::None,
            PathVerdict::Deny(standing) => Self::denied(standing),
            PathVerdict::Ask(standing) => Self::asks(standing),
            PathVerdict::Allow(standing) if workspace.is_broad() => {
                Self::not_allowed(standing, &NotAllowed::Broad)
            }
            PathVerdict::Allow(standing) => {
                Self::Allowed { rule: standing.rule.text().to_owned(), direct: None }
            }
        }
    }

    fn denied(standing: &Standing) -> Self {
        Self::Denied { rule: standing.rule.text().to_owned() }
    }

    fn asks(standing: &Standing) -> Self {
        let rule = standing.rule.text().to_owned();
        Self::Asks {
            rule,
            why: format!("{} asks each time; “always allow” does not change that", named(standing)),
            may_be_denied: false,
        }
    }

    fn not_allowed(standing: &Standing, why: &NotAllowed) -> Self {
        Self::NotAllowed { why: does_not_count(standing, why) }
    }

    /// The rule that decides, as it is written.
    pub(super) fn rule(&self) -> Option<&str> {
        match self {
            Self::None | Self::NotAllowed { .. } => None,
            Self::Denied { rule } | Self::Asks { rule, .. } | Self::Allowed { rule, .. } => Some(rule),
        }
    }

    /// A rule denies, but whether it matches is not known.
    pub(super) const fn may_deny(&self) -> bool {
        matches!(self, Self::Asks { may_be_denied: true, .. })
    }

    /// Why it asks, in a sentence without a full stop.
    pub(super) fn why(&self) -> Option<&str> {
        match self {
            Self::None | Self::Denied { .. } | Self::Allowed { .. } => None,
            Self::NotAllowed { why } | Self::Asks { why, .. } => Some(why),
        }
    }
}

/// A rule in a sentence.
pub(super) fn named(standing: &Standing) -> String {
    let place = match standing.source {
        Source::Policy => "in `[policy]`",
        Source::Workspace => "of this folder",
    };
    format!("the rule `{}` {place}", standing.rule)
}

fn names(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// The command with its program found.
fn direct(plain: Plain, program: String) -> Direct {
    let Plain { words, environment, output } = plain;
    Direct {
        program,
        arguments: words.into_iter().skip(1).collect(),
        environment: environment.into_iter().collect(),
        stdout: if output.is_stdout_dropped { DirectOutput::Dropped } else { DirectOutput::Own },
        stderr: match output.stderr {
            Stderr::Own => DirectOutput::Own,
            Stderr::ToStdout => DirectOutput::Stdout,
            Stderr::Dropped => DirectOutput::Dropped,
        },
    }
}

/// The rules that an approval of a call offers, the narrowest first. Each of them would allow the call.
pub(super) fn offers(call: &dyn Call, programs: &Programs<'_>) -> Vec<WiderRule> {
    match call.subject() {
        Subject::Line(line) => line_offers(line, programs),
        Subject::Edit(path) if !programs.workspace.is_broad() => match programs.workspace.names(path) {
            Ok([_, real]) => on_wire(abide_rules::wider_edit(&real)),
            Err(_) => Vec::new(),
        },
        Subject::Edit(_) | Subject::Read(_) | Subject::Code | Subject::Nothing => Vec::new(),
    }
}

/// The rules that an approval of a command line offers.
pub(super) fn line_offers(line: &str, programs: &Programs<'_>) -> Vec<WiderRule> {
    let can_run = Plain::parse(line).is_some_and(|plain| programs.allowed(&plain).is_ok());
    if can_run { on_wire(abide_rules::wider(line)) } else { Vec::new() }
}

fn on_wire(offers: Vec<Offer>) -> Vec<WiderRule> {
    offers.into_iter().map(|Offer { text, matches }| WiderRule { text, matches }).collect()
}
