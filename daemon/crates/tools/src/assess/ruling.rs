//! What the rules say about a call.

use crate::{
    command,
    tool::{Call, CallError, Subject},
    workspace::Workspace,
};
use abide_protocol::{
    inbox::WiderRule,
    record::{Direct, DirectOutput},
};
use abide_rules::{Book, Offer, PathVerdict, Plain, Standing, Stderr, Verdict};

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Ruling {
    #[default]
    None,
    Denied {
        rule: String,
    },
    Asks {
        rule: String,
        /// It may be denied: a person decides, whatever the task was started with.
        may_be_denied: bool,
    },
    Allowed {
        rule: String,
        /// A shell command is executed like this.
        direct: Option<Box<Direct>>,
    },
}

impl Ruling {
    pub(super) fn of(
        book: &Book,
        call: &dyn Call,
        path: Option<&str>,
        workspace: &Workspace,
    ) -> Result<Self, CallError> {
        if book.is_empty() {
            return Ok(Self::None);
        }
        Ok(match call.subject() {
            Subject::Nothing | Subject::Code => Self::None,
            Subject::Line(line) => Self::of_line(book.shell(line), path, workspace),
            Subject::Read(path) => Self::of_path(&book.read(&names(&workspace.names(path)?)), workspace),
            Subject::Edit(path) => Self::of_path(&book.edit(&names(&workspace.names(path)?)), workspace),
        })
    }

    fn of_line(verdict: Verdict<'_>, path: Option<&str>, workspace: &Workspace) -> Self {
        let text = |standing: &Standing| standing.rule.text().to_owned();
        match verdict {
            Verdict::None => Self::None,
            Verdict::Deny(standing) => Self::Denied { rule: text(standing) },
            Verdict::MayDeny(standing, _) => Self::Asks { rule: text(standing), may_be_denied: true },
            Verdict::Ask(standing, _) => Self::Asks { rule: text(standing), may_be_denied: false },
            // In a workspace with a person's other files no rule allows.
            Verdict::Allow(..) if workspace.is_broad() => Self::None,
            Verdict::Allow(standing, plain) => match direct(plain, path, workspace) {
                Some(direct) => Self::Allowed { rule: text(standing), direct: Some(Box::new(direct)) },
                None => Self::None,
            },
        }
    }

    fn of_path(verdict: &PathVerdict<'_>, workspace: &Workspace) -> Self {
        let text = |standing: &Standing| standing.rule.text().to_owned();
        match verdict {
            PathVerdict::None => Self::None,
            PathVerdict::Deny(standing) => Self::Denied { rule: text(standing) },
            PathVerdict::Ask(standing) => Self::Asks { rule: text(standing), may_be_denied: false },
            PathVerdict::Allow(_) if workspace.is_broad() => Self::None,
            PathVerdict::Allow(standing) => Self::Allowed { rule: text(standing), direct: None },
        }
    }

    /// The rule that decides, as it is written.
    pub(super) fn rule(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Denied { rule } | Self::Asks { rule, .. } | Self::Allowed { rule, .. } => Some(rule),
        }
    }
}

fn names(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// The command with its program found. `None`: there is none, or the task may write to its folder, and so replace it.
fn direct(plain: Plain, path: Option<&str>, workspace: &Workspace) -> Option<Direct> {
    let program = command::find(plain.program(), path)?;
    if !command::is_trusted(program.as_ref(), workspace) {
        return None;
    }
    let Plain { words, environment, output } = plain;
    Some(Direct {
        program,
        arguments: words.into_iter().skip(1).collect(),
        environment: environment.into_iter().collect(),
        stdout: if output.is_stdout_dropped { DirectOutput::Dropped } else { DirectOutput::Own },
        stderr: match output.stderr {
            Stderr::Own => DirectOutput::Own,
            Stderr::ToStdout => DirectOutput::Stdout,
            Stderr::Dropped => DirectOutput::Dropped,
        },
    })
}

/// The rules that an approval of a call offers, the narrowest first.
pub(super) fn offers(call: &dyn Call, path: Option<&str>, workspace: &Workspace) -> Vec<WiderRule> {
    let offers = match call.subject() {
        Subject::Line(line) => {
            let can_run = Plain::parse(line).is_some_and(|plain| direct(plain, path, workspace).is_some());
            if can_run { abide_rules::wider(line) } else { Vec::new() }
        }
        Subject::Edit(path) => match workspace.names(path) {
            Ok([_, real]) => abide_rules::wider_edit(&real),
            Err(_) => Vec::new(),
        },
        Subject::Read(_) | Subject::Code | Subject::Nothing => Vec::new(),
    };
    offers.into_iter().map(|Offer { text, matches }| WiderRule { text, matches }).collect()
}
