//! What the tools that run a program have in common: their limits and their results.

use super::counted;
use crate::{
    command::{Ended, How},
    sandbox::Network,
    text::RESULT_CHARS,
};
use abide_protocol::{
    record::{CallAssessed, Direct, Permission},
    transcript::ToolResult,
};
use serde_json::{Value, json};
use std::time::Duration;

/// The longest command line or code, in bytes. It is one argument of a program, and Linux allows 128 KiB.
const MAX_TEXT: usize = 120_000;

/// The characters of a result that stderr gets if stdout needs the rest.
const STDERR_CHARS: usize = RESULT_CHARS / 3;

/// A command to run under a helper.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub(crate) program: Program,
    pub(crate) arguments: Vec<String>,
    /// The folder of the workspace in which to run the command. Absent: the workspace itself.
    pub(crate) working_dir: Option<String>,
    pub(crate) timeout: Duration,
    /// The command's stdin is a line on which it can start sub-tasks; otherwise stdin is empty.
    pub(crate) has_line: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Program {
    /// An absolute path.
    At(&'static str),
    /// A name on the `PATH` of the task.
    OnPath(&'static str),
    /// What a rule allowed; the arguments are in it.
    Direct(Box<Direct>),
}

impl Command {
    /// The command as a rule allowed it, perhaps without a shell.
    pub(crate) fn into_allowed(self, assessed: &CallAssessed) -> Self {
        match (&assessed.permission, &assessed.direct) {
            (Permission::Rule, Some(direct)) => {
                Self { program: Program::Direct(direct.clone()), arguments: Vec::new(), ..self }
            }
            _ => self,
        }
    }
}

/// Why a text cannot be run. `what` is `command` or `code`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TextError {
    #[error("the {what} is empty")]
    Empty { what: &'static str },
    #[error("the {what} holds a NUL character")]
    Nul { what: &'static str },
    #[error("the {what} has {size} bytes, and {MAX_TEXT} is the limit; write it to a file and run that")]
    TooLong { what: &'static str, size: usize },
}

/// Whether this text can be an argument of a program, and does something.
pub(super) fn check(what: &'static str, text: &str) -> Result<(), TextError> {
    if text.trim().is_empty() {
        Err(TextError::Empty { what })
    } else if text.contains('\0') {
        Err(TextError::Nul { what })
    } else if text.len() > MAX_TEXT {
        Err(TextError::TooLong { what, size: text.len() })
    } else {
        Ok(())
    }
}

/// The schema of the argument `timeout_secs`.
pub(super) fn timeout_schema() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": 3600, "default": 60,
        "description": "After this many seconds it is ended."})
}

/// The time that the argument `timeout_secs` gives.
pub(super) fn timeout(secs: Option<u64>) -> Duration {
    Duration::from_secs(secs.unwrap_or(60).clamp(1, 3600))
}

/// The result of a command, the time it took and the time it had.
pub(crate) fn result(ended: &Ended, took: Duration, limit: Duration) -> ToolResult {
    let (ok, message, exit_code) = match &ended.how {
        How::Exited(0) => (true, "exit code 0".to_owned(), Some(0)),
        How::Exited(code) => (false, format!("exit code {code}"), Some(*code)),
        // The exit code that shells give.
        How::Killed(signal) => {
            (false, format!("killed by signal {signal}{}", name(*signal)), Some(128 + signal))
        }
        How::TimedOut => {
            let words = format!(
                "timed out after {} s and was ended; what it did until then is done",
                limit.as_secs()
            );
            (false, words, None)
        }
        How::Cancelled => {
            (false, "ended because the task was stopped; what it did until then is done".to_owned(), None)
        }
        How::NotStarted(why) => (false, format!("the command could not be started: {why}"), None),
        How::Offended => {
            let words = "ended at once, because it has made something that the user's own git would run; what it did until then is done, and \
                         what it made is set aside";
            (false, words.to_owned(), None)
        }
        How::HelperLost => {
            let words = "the process that watched over the command was killed, so the command was ended; \
                         how far it came is unknown";
            (false, words.to_owned(), None)
        }
        How::Exceeded(what) => {
            (false, format!("ended, because {what}; what it did until then is done"), None)
        }
    };
    let stderr = ended.stderr.text(STDERR_CHARS.max(RESULT_CHARS.saturating_sub(ended.stdout.seen())));
    let stdout = ended.stdout.text(RESULT_CHARS.saturating_sub(ended.stderr.seen().min(STDERR_CHARS)));
    let mut data = json!({
        "stdout": stdout,
        "stderr": stderr,
        "exit_code": exit_code,
        "duration_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
    });
    if !ended.forked.is_empty() {
        data["forked"] = json!(ended.forked);
    }
    let mut diagnostics = Vec::new();
    if let Some(fault) = ended.line_fault {
        diagnostics.push(format!("its line to Abide was closed, because {fault}"));
    }
    if ended.left_behind > 0 {
        let processes = counted(ended.left_behind, "process", "processes");
        diagnostics.push(format!("{processes} it had left running ended with it"));
    }
    if ended.survivors > 0 {
        diagnostics
            .push(format!("{} of its processes could not be ended (not ours to signal?)", ended.survivors));
    }
    ToolResult { ok, data: Some(data.into()), message, diagnostics }
}

/// What programs print when a sandbox refuses something. The words can have other causes, too.
const REFUSALS: [&str; 10] = [
    "Read-only file system",
    "Operation not permitted",
    "Permission denied",
    "Network is unreachable",
    "Could not resolve host",
    "Temporary failure in name resolution",
    "Name or service not known",
    "getaddrinfo",
    "\"no new privileges\" flag is set",
    "Cannot connect to the Docker daemon",
];

/// A hint for the model, never certain, that the sandbox may be why a confined command failed.
pub(crate) fn maybe_refused(ended: &Ended, network: Network) -> Option<String> {
    let what = match &ended.how {
        How::TimedOut if network == Network::Off => {
            "it ran in the sandbox, where there is no network: what waits for another machine or a service waits in vain"
        }
        How::Killed(libc::SIGSYS) => REFUSED,
        How::Exited(code) if *code != 0 && has_printed(ended, &REFUSALS) => REFUSED,
        _ => return None,
    };
    Some(format!(
        "{what}. If it must leave the sandbox, call shell with `outside` and a `reason`; the user is asked"
    ))
}

const REFUSED: &str = "the sandbox may have refused this: it has no network, and only the workspace and temporary folders can be written";

/// What programs print when they want a terminal or an answer on it. The words can have other causes, too.
const NO_TERMINAL: [&str; 10] = [
    "not a terminal",
    "not from a terminal",
    "terminal is required",
    "terminal prompts disabled",
    "not a TTY",
    "non TTY",
    "tty get",
    "/dev/tty",
    "Inappropriate ioctl for device",
    "Host key verification failed",
];

/// A hint, never certain, that a command may have failed because nobody sits at a terminal.
pub(crate) fn maybe_unattended(ended: &Ended) -> Option<String> {
    let has_failed = matches!(ended.how, How::Exited(1..) | How::TimedOut);
    (has_failed && has_printed(ended, &NO_TERMINAL)).then(|| {
        "it may have wanted a terminal, or somebody's answer, and there is neither: use options that make it ask nothing, give it its input \
         with a pipe, or let the user do it"
            .to_owned()
    })
}

/// What programs print when they cannot have another process or thread. The words can have other causes, too.
const NO_PROCESS: [&str; 2] = ["Resource temporarily unavailable", "can't start new thread"];

/// A hint, never certain, that a confined command may have met a limit without being ended for it.
pub(crate) fn maybe_limited(ended: &Ended) -> Option<String> {
    const KILLED: i32 = 128 + libc::SIGKILL;
    let hint = match ended.how {
        How::Killed(libc::SIGKILL) | How::Exited(KILLED) => {
            "the machine may have run out of memory, where the kernel ends the commands of tasks first"
        }
        How::Exited(_) | How::TimedOut if has_printed(ended, &NO_PROCESS) => {
            "it may have met the limit of processes and threads, `[sandbox] max_processes`"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

fn has_printed(ended: &Ended, words: &[&str]) -> bool {
    let printed = [ended.stderr.text(STDERR_CHARS), ended.stdout.text(STDERR_CHARS)];
    words.iter().any(|word| printed.iter().any(|text| text.contains(word)))
}

const fn name(signal: i32) -> &'static str {
    match signal {
        6 => " (SIGABRT)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        31 => " (SIGSYS)",
        _ => "",
    }
}
