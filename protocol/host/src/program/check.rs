//! Asks the daemon's program whether it could start.

use super::{NotFound, daemon, detached};
use crate::{Home, run_within::run_within, text};
use std::{
    io,
    path::PathBuf,
    process::{Output, Stdio},
    time::Duration,
};

/// How long a program may take to say whether it could start.
const CHECK_TIME: Duration = Duration::from_secs(10);
/// How much of what it says is kept, in bytes.
const SHOWN_BYTES: u64 = 4096;
/// The exit code of a program that does not know the argument for a check.
const USAGE: i32 = 2;

/// A program that could start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// `None`: it is too old to be asked.
    pub version: Option<String>,
}

/// Why the daemon's program could not start.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error(transparent)]
    NotFound(#[from] NotFound),
    #[error("cannot start {program}: {source}", program = program.display())]
    Spawn { program: PathBuf, source: io::Error },
    #[error("a new daemon would refuse this: {said}")]
    Refused { said: String },
    #[error("{program} did not say within {} s whether it could start; try it: {program} check", CHECK_TIME.as_secs(), program = program.display())]
    Silent { program: PathBuf },
}

/// Runs a program (`None`: the one of [`daemon`]) only to read configuration, keys and the database's schema
/// as a start does; a daemon may run meanwhile.
///
/// # Errors
/// There is no program, it cannot be run, the configuration or the keys are invalid, or the database is newer
/// than the program.
pub async fn check(home: &Home, program: Option<PathBuf>) -> Result<Checked, CheckError> {
    let program = program.map_or_else(daemon, Ok)?;
    let mut command = detached(&program, home, Stdio::piped());
    command.arg("check").stdout(Stdio::piped());
    let run = tokio::task::spawn_blocking(move || run_within(command, CHECK_TIME, SHOWN_BYTES));
    let run = run.await.map_err(io::Error::other).and_then(|run| run);
    let Output { status, stdout, stderr } = match run {
        Ok(Some(output)) => output,
        Ok(None) => return Err(CheckError::Silent { program }),
        Err(source) => return Err(CheckError::Spawn { program, source }),
    };
    if status.code() == Some(USAGE) {
        return Ok(Checked { version: None });
    }
    let said = |bytes: &[u8]| text::visible(String::from_utf8_lossy(bytes).trim()).into_owned();
    if status.success() {
        return Ok(Checked { version: said(&stdout).strip_prefix("abided ").map(str::to_owned) });
    }
    let why = said(&stderr);
    let why = why.strip_prefix("error: ").unwrap_or(&why);
    Err(CheckError::Refused { said: if why.is_empty() { status.to_string() } else { why.to_owned() } })
}
