mod risk;

use super::{Call, CallError, Outlook, Site, Tool, Work};
use crate::{
    command::{Ended, How},
    text::RESULT_CHARS,
};
use abide_protocol::transcript::{EffectClass, ToolResult};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// A command line is one argument of the shell; Linux allows 128 KiB. In bytes.
const MAX_COMMAND: usize = 120_000;

/// How many of a result's characters stderr gets if stdout needs the rest.
const STDERR_CHARS: usize = RESULT_CHARS / 3;

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Shell {
    pub(crate) command: String,
    pub(crate) working_dir: Option<String>,
    timeout_secs: Option<u64>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ShellError {
    #[error("the command is empty")]
    Empty,
    #[error("the command holds a NUL character")]
    Nul,
    #[error("the command has {0} bytes, and {MAX_COMMAND} is the limit; write it to a file and run that")]
    TooLong(usize),
}

pub(super) fn tool() -> Tool {
    let description = "Runs a shell command (bash) in the workspace and waits for it. Its input is empty and there is no \
                       terminal. When it ends, everything it started is ended too. Long output is cut in the middle.";
    let properties = json!({
        "command": {"type": "string", "minLength": 1, "description": "The command line."},
        "working_dir": {"type": "string", "description": "A folder in the workspace to run it in; the workspace itself if absent."},
        "timeout_secs": {"type": "integer", "minimum": 1, "maximum": 3600, "default": 60,
            "description": "After this many seconds it is ended."},
    });
    Tool::of::<Shell>(super::spec("shell", EffectClass::Unsafe, description, &properties, &["command"]))
}

impl Call for Shell {
    fn summary(&self) -> String {
        match &self.working_dir {
            Some(dir) if dir != "." => format!("{} (in {dir})", self.command.trim()),
            _ => self.command.trim().to_owned(),
        }
    }

    fn assess(&self, site: &mut Site<'_>, outlook: &mut Outlook) -> Result<(), CallError> {
        self.check()?;
        if let Some(dir) = &self.working_dir {
            site.workspace.resolve(dir)?;
        }
        let is_broad = site.workspace.is_broad();
        let ground = risk::Ground { workspace: site.folder, path: site.path, is_broad };
        outlook.risk = risk::of(&self.command, &ground);
        Ok(())
    }

    fn work(self: Box<Self>) -> Work {
        Work::Command(*self)
    }
}

impl Shell {
    pub(crate) fn check(&self) -> Result<(), ShellError> {
        if self.command.trim().is_empty() {
            Err(ShellError::Empty)
        } else if self.command.contains('\0') {
            Err(ShellError::Nul)
        } else if self.command.len() > MAX_COMMAND {
            Err(ShellError::TooLong(self.command.len()))
        } else {
            Ok(())
        }
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_secs.unwrap_or(60).clamp(1, 3600))
    }
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
        How::HelperLost => {
            let words = "the process that watched over the command was killed, so the command was ended; \
                         how far it came is unknown";
            (false, words.to_owned(), None)
        }
    };
    let stderr = ended.stderr.text(STDERR_CHARS.max(RESULT_CHARS.saturating_sub(ended.stdout.seen())));
    let stdout = ended.stdout.text(RESULT_CHARS.saturating_sub(ended.stderr.seen().min(STDERR_CHARS)));
    let data = json!({
        "stdout": stdout,
        "stderr": stderr,
        "exit_code": exit_code,
        "duration_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
    });
    let mut diagnostics = Vec::new();
    if ended.left_behind > 0 {
        let processes = super::counted(ended.left_behind, "process", "processes");
        diagnostics.push(format!("{processes} it had left running ended with it"));
    }
    if ended.survivors > 0 {
        diagnostics
            .push(format!("{} of its processes could not be ended (not ours to signal?)", ended.survivors));
    }
    ToolResult { ok, data: Some(data.into()), message, diagnostics }
}

const fn name(signal: i32) -> &'static str {
    match signal {
        6 => " (SIGABRT)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        _ => "",
    }
}
