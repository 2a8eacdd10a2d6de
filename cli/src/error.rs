//! Errors of commands: a kind that decides the exit code, a message and a hint. All other errors are
//! converted here.

use crate::{
    exit::Exit,
    output::{
        fold::folded,
        screen,
        style::{BAD, FAINT, PLAIN, STRONG, paint},
        table::{cell, table},
        text,
    },
};
use abide_client::{
    CallError, ConnectError, LiveError,
    protocol::{self, Candidate, ErrorKind},
};
use abide_host::{home::HomeError, login::LoginError, program::NotFound};
use serde_json::json;
use std::{fmt, io, process::ExitCode};

/// The kind of failure; it decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Failed,
    Usage,
    NoDaemon,
    /// The time limit is over.
    TimedOut,
    /// A person has to decide, and there is no terminal.
    NeedsPerson,
    /// The reader of the output has gone; nothing is printed.
    BrokenPipe,
}

#[derive(Debug)]
pub(crate) struct CommandError {
    kind: Kind,
    error: anyhow::Error,
    hint: Option<String>,
    /// The daemon's refusal, if it is one.
    refusal: Option<Box<protocol::Error>>,
}

impl CommandError {
    /// The command line is wrong.
    pub(crate) fn usage(words: impl Into<String>) -> Self {
        Self::of(Kind::Usage, anyhow::Error::msg(words.into()), None)
    }

    /// The command failed.
    pub(crate) fn failed(words: impl Into<String>) -> Self {
        Self::of(Kind::Failed, anyhow::Error::msg(words.into()), None)
    }

    /// The time limit is over.
    pub(crate) fn timed_out(words: impl Into<String>) -> Self {
        Self::of(Kind::TimedOut, anyhow::Error::msg(words.into()), None)
    }

    /// A person has to decide, and there is no terminal.
    pub(crate) fn needs_person(words: impl Into<String>) -> Self {
        Self::of(Kind::NeedsPerson, anyhow::Error::msg(words.into()), None)
    }

    /// Whether the daemon refused it with this kind of error.
    pub(crate) fn is(&self, kind: ErrorKind) -> bool {
        self.refusal.as_ref().is_some_and(|refusal| refusal.kind() == kind)
    }

    /// Whether the daemon ended, or was about to, so that the request was not carried out or its reply did
    /// not come.
    pub(crate) fn is_end_of_daemon(&self) -> bool {
        self.kind == Kind::NoDaemon || self.is(ErrorKind::ShuttingDown)
    }

    pub(crate) fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn of(kind: Kind, error: impl Into<anyhow::Error>, hint: Option<&str>) -> Self {
        Self { kind, error: error.into(), hint: hint.map(str::to_owned), refusal: None }
    }

    /// Whether the daemon knows no such id.
    pub(crate) fn is_not_found(&self) -> bool {
        self.error.downcast_ref::<protocol::Error>().is_some_and(|error| error.kind() == ErrorKind::NotFound)
    }

    pub(crate) const fn exit(&self) -> Exit {
        match self.kind {
            Kind::Failed => Exit::Failed,
            Kind::Usage => Exit::Usage,
            Kind::NoDaemon => Exit::NoDaemon,
            Kind::TimedOut => Exit::TimedOut,
            Kind::NeedsPerson => Exit::NeedsPerson,
            Kind::BrokenPipe => Exit::Done,
        }
    }

    /// Prints it on standard error.
    pub(crate) fn show(&self) {
        if self.kind != Kind::BrokenPipe {
            // If standard error is closed too, only the exit code is left.
            let _ = screen::note(&self.rendered(screen::note_width()));
        }
    }

    /// Prints it on standard error as one line of JSON:
    /// `{"error":{"kind","message","hint","exitCode","retryable","id","candidates"}}`.
    pub(crate) fn show_json(&self) {
        if self.kind != Kind::BrokenPipe {
            // If standard error is closed too, only the exit code is left.
            let _ = screen::note(&self.document().to_string());
        }
    }

    fn document(&self) -> serde_json::Value {
        let refusal = self.refusal.as_ref().map(|refusal| &refusal.data);
        let kind = match (refusal, self.kind) {
            (Some(data), _) => json!(data.kind),
            (None, Kind::Usage) => json!("usage"),
            (None, Kind::NoDaemon) => json!("no_daemon"),
            (None, Kind::TimedOut) => json!("timed_out"),
            (None, Kind::NeedsPerson) => json!("needs_person"),
            (None, Kind::Failed | Kind::BrokenPipe) => json!("failed"),
        };
        json!({"error": {
            "kind": kind,
            "message": self.to_string(),
            "hint": self.hint,
            "exitCode": self.exit().code(),
            "retryable": refusal.is_some_and(|data| data.retryable),
            "id": refusal.and_then(|data| data.id.as_ref()),
            "candidates": refusal.map(|data| data.candidates.as_slice()).unwrap_or_default(),
        }})
    }

    /// `columns`: the terminal's width, if standard error is one.
    fn rendered(&self, columns: Option<usize>) -> String {
        let mut out = format!("{} {}", paint(BAD, "error:"), text::block(&self.to_string()));
        if let Some(hint) = &self.hint {
            out.push_str(&format!("\n{} {}", paint(FAINT, "hint:"), text::block(hint)));
        }
        if let Some(columns) = columns {
            out = folded(&out, columns);
        }
        if let Some(refusal) = self.refusal.as_ref().filter(|refusal| !refusal.data.candidates.is_empty()) {
            out.push('\n');
            out.push_str(&candidates(&refusal.data.candidates));
        }
        out
    }
}

impl fmt::Display for CommandError {
    /// With all its causes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.error)
    }
}

/// One line for each.
fn candidates(candidates: &[Candidate]) -> String {
    let words = |status: &str| match status {
        "waiting_user" | "waiting_approval" => "needs you".to_owned(),
        other => other.replace('_', " "),
    };
    let row = |candidate: &Candidate| {
        let tail = candidate.id.len().saturating_sub(8);
        [
            cell(STRONG, candidate.id.get(tail..).unwrap_or(&candidate.id)),
            cell(PLAIN, &words(&candidate.status)),
            cell(PLAIN, &candidate.title),
        ]
    };
    let rows: Vec<_> = candidates.iter().map(row).collect();
    table(["", "", ""], &rows, None)
}

/// Prints clap's message; help and versions are no errors.
pub(crate) fn show_usage(said: &clap::Error, json: bool) -> ExitCode {
    let elsewhere = elsewhere(said);
    if let Some((word, hint)) = elsewhere.filter(|_| said.use_stderr()) {
        let error = CommandError::usage(format!("there is no command {word:?}")).hinted(hint);
        if json {
            error.show_json();
        } else {
            error.show();
        }
        return Exit::Usage.into();
    }
    if json && said.use_stderr() {
        let words = said.render().to_string();
        // The first paragraph is the error, the rest the usage.
        let (wrong, right) = words.split_once("\n\n").unwrap_or((&words, ""));
        let wrong = CommandError::usage(wrong.trim_start_matches("error: ").trim());
        wrong.hinted(right.split_whitespace().collect::<Vec<_>>().join(" ")).show_json();
    } else {
        // An error of printing has nowhere to go.
        let _ = said.print();
    }
    if said.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() }
}

/// The unknown command, if other programs have it, and what does it here.
fn elsewhere(said: &clap::Error) -> Option<(&str, &'static str)> {
    use clap::error::{ContextKind, ContextValue};
    let Some(ContextValue::String(word)) = said.get(ContextKind::InvalidSubcommand) else { return None };
    crate::args::elsewhere(word).map(|hint| (word.as_str(), hint))
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe { Kind::BrokenPipe } else { Kind::Failed };
        Self::of(kind, error, None)
    }
}

impl From<serde_json::Error> for CommandError {
    fn from(error: serde_json::Error) -> Self {
        if let Some(kind) = error.io_error_kind() {
            io::Error::from(kind).into()
        } else {
            Self::of(Kind::Failed, error, None)
        }
    }
}

impl From<HomeError> for CommandError {
    fn from(error: HomeError) -> Self {
        Self::of(Kind::Failed, error, None)
    }
}

impl From<LoginError> for CommandError {
    fn from(error: LoginError) -> Self {
        Self::of(Kind::Failed, error, None)
    }
}

impl From<NotFound> for CommandError {
    fn from(error: NotFound) -> Self {
        Self::of(Kind::Failed, error, None)
    }
}

impl From<ConnectError> for CommandError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Refused(refusal) => refusal.into(),
            ConnectError::Home(home) => home.into(),
            other => Self::of(Kind::NoDaemon, other, None),
        }
    }
}

impl From<CallError> for CommandError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Daemon(refusal) => refusal.into(),
            gone @ CallError::Disconnected(_) => {
                Self::of(Kind::NoDaemon, gone, Some("`abide ps` shows the state of all tasks"))
            }
            other => Self::of(Kind::Failed, other, None),
        }
    }
}

impl From<LiveError> for CommandError {
    fn from(error: LiveError) -> Self {
        match error {
            LiveError::Connect(error) => error.into(),
            LiveError::Call(error) => error.into(),
        }
    }
}

impl From<protocol::Error> for CommandError {
    fn from(error: protocol::Error) -> Self {
        let about = error.data.id.clone().unwrap_or_default();
        let tail = about.len().saturating_sub(8);
        let short = about.get(tail..).unwrap_or_default();
        let hint = match error.kind() {
            ErrorKind::NotFound => {
                Some("`abide ps --all` and `abide conversations` list what there is".to_owned())
            }
            ErrorKind::TaskRunning if !short.is_empty() => Some(format!(
                "`abide watch {short}` shows it, `abide stop {short}` ends it; or begin a new conversation"
            )),
            ErrorKind::TaskRunning => Some("`abide ps` shows it; or begin a new conversation".to_owned()),
            ErrorKind::IllegalState if !short.is_empty() => {
                Some(format!("`abide show {short}` says more about it"))
            }
            ErrorKind::IllegalState => Some("`abide ps --all` shows where it stands".to_owned()),
            // Most of these messages name it themselves.
            ErrorKind::ModelUnavailable if !error.message.contains("`abide models`") => {
                Some("`abide models` lists what there is".to_owned())
            }
            ErrorKind::Internal | ErrorKind::Storage => Some("`abide daemon logs` has more".to_owned()),
            ErrorKind::MethodNotFound | ErrorKind::Unsupported => {
                Some("the daemon may be of another version: `abide daemon restart`".to_owned())
            }
            ErrorKind::Overloaded | ErrorKind::ShuttingDown => Some("try again in a moment".to_owned()),
            _ => None,
        };
        let kind = if error.kind() == ErrorKind::InvalidParams { Kind::Usage } else { Kind::Failed };
        let refusal = Some(Box::new(error.clone()));
        Self { refusal, ..Self::of(kind, error, hint.as_deref()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_client::Disconnect;

    fn shown(error: &CommandError) -> String {
        anstream::adapter::strip_str(&error.rendered(None)).to_string()
    }

    #[test]
    fn the_kind_decides_the_exit_code() {
        let refused = |kind| CommandError::from(CallError::Daemon(protocol::Error::new(kind, "no")));
        let table = [
            (CommandError::usage("x"), 2),
            (CommandError::failed("x"), 1),
            (io::Error::from(io::ErrorKind::BrokenPipe).into(), 0),
            (CommandError::timed_out("x"), 124),
            (io::Error::from(io::ErrorKind::NotFound).into(), 1),
            (ConnectError::NotRunning { socket: "/s".into() }.into(), 3),
            (CallError::Disconnected(Disconnect::Closed).into(), 3),
            (refused(ErrorKind::NotFound), 1),
            (refused(ErrorKind::InvalidParams), 2),
        ];
        for (error, code) in table {
            assert_eq!(error.exit().code(), code, "{error:?}");
        }
    }

    #[test]
    fn a_running_task_is_named_with_a_hint() {
        let error = protocol::Error::new(ErrorKind::TaskRunning, "this conversation has a running task")
            .about("0198c0de-0000-7000-8000-00005f2c81d0");
        assert_eq!(
            shown(&error.into()),
            "error: this conversation has a running task\n\
             hint: `abide watch 5f2c81d0` shows it, `abide stop 5f2c81d0` ends it; or begin a new conversation"
        );
    }

    #[test]
    fn an_error_breaks_between_words() {
        let error = CommandError::failed("one two three four").hinted("five six seven");
        let shown = anstream::adapter::strip_str(&error.rendered(Some(16))).to_string();
        assert_eq!(shown, "error: one two\nthree four\nhint: five six\nseven");
    }

    #[test]
    fn candidates_of_an_ambiguous_id_are_listed() {
        let candidate = |id: &str, title: &str, status: &str| Candidate {
            id: id.into(),
            title: title.into(),
            status: status.into(),
        };
        let error = protocol::Error::new(ErrorKind::Ambiguous, "\"be\" fits more than one task").among(vec![
            candidate("0198c0de-0000-7000-8000-00005f2c81be", "Fix the \u{1b}[2Jtest", "waiting_user"),
            candidate("be", "Look", "error"),
        ]);
        assert_eq!(
            shown(&error.clone().into()),
            "error: \"be\" fits more than one task\n\
             5f2c81be  needs you  Fix the \\x1b[2Jtest\nbe        error      Look\n"
        );
        let document = CommandError::from(error).document();
        assert_eq!(
            document["error"]["candidates"][1],
            json!({"id": "be", "title": "Look", "status": "error"})
        );
    }

    #[test]
    fn programs_get_an_error_as_a_document() {
        let error = protocol::Error::new(ErrorKind::NotFound, "there is no task \"x\"").about("x");
        assert_eq!(
            CommandError::from(error).document(),
            json!({"error": {
                "kind": "not_found",
                "message": "there is no task \"x\"",
                "hint": "`abide ps --all` and `abide conversations` list what there is",
                "exitCode": 1,
                "retryable": false,
                "id": "x",
                "candidates": [],
            }})
        );
        let usage = CommandError::usage("no").document();
        assert_eq!((&usage["error"]["kind"], &usage["error"]["exitCode"]), (&json!("usage"), &json!(2)));
        let down = CommandError::from(ConnectError::NotRunning { socket: "/s".into() }).document();
        assert_eq!(down["error"]["kind"], "no_daemon");
    }

    #[test]
    fn text_of_the_daemon_is_escaped() {
        let shown = shown(&protocol::Error::new(ErrorKind::NotFound, "no \u{1b}[2Jx").into());
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }
}
