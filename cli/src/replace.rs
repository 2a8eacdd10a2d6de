//! Replaces this process by another program of Abide, which prints here and whose exit code is this
//! program's.

use crate::{error::CommandError, exit::Exit};
use abide_host::program;
use std::{
    ffi::OsStr,
    path::Path,
    process::{Command, ExitStatus},
};

/// Runs the daemon's program in place of this one.
pub(crate) fn become_daemon(arguments: &[&OsStr]) -> Result<Exit, CommandError> {
    replace(&program::daemon()?, arguments)
}

/// Runs that program in place of this one.
#[expect(clippy::disallowed_methods, reason = "this process becomes the other: none is left to look after")]
pub(crate) fn replace(program: &Path, arguments: &[&OsStr]) -> Result<Exit, CommandError> {
    let mut command = Command::new(program);
    command.args(arguments);
    let status = become_it(command)
        .map_err(|error| CommandError::failed(format!("cannot start {}: {error}", program.display())))?;
    Ok(if status.success() { Exit::Done } else { Exit::Failed })
}

/// Returns only if it fails.
#[cfg(unix)]
fn become_it(mut command: Command) -> std::io::Result<ExitStatus> {
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

#[cfg(not(unix))]
fn become_it(mut command: Command) -> std::io::Result<ExitStatus> {
    command.status()
}
