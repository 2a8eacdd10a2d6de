//! Starts the window's program, for those who want a person to see something.

use super::detached;
use crate::{Home, program};
use std::{
    ffi::OsStr,
    io,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    thread,
};
use tokio::sync::oneshot;

/// Why the window could not be started.
#[derive(Debug, thiserror::Error)]
pub enum WindowError {
    #[error(
        "cannot find the window's program `abide-gui`: it is neither beside this program nor in PATH; install it, or set ABIDE_GUI to \
         its path"
    )]
    NotFound,
    #[error("cannot start {program}: {source}", program = program.display())]
    Spawn { program: PathBuf, source: io::Error },
}

/// A window's program that was started. Dropped, it goes on.
#[derive(Debug)]
pub struct Started {
    end: oneshot::Receiver<io::Result<ExitStatus>>,
}

impl Started {
    /// Waits for its end; `None`: how it ended is not known.
    pub async fn end(self) -> Option<ExitStatus> {
        self.end.await.ok().and_then(Result::ok)
    }
}

/// Starts the window's program for this home, in a session of its own, with these arguments and variables,
/// and does not wait for it.
///
/// # Errors
/// See [`WindowError`].
pub fn open_window<'a>(
    home: &Home,
    arguments: &[&str],
    variables: impl IntoIterator<Item = (&'a str, &'a OsStr)>,
) -> Result<Started, WindowError> {
    let program = program::window().ok_or(WindowError::NotFound)?;
    let mut command = detached(&program, home, Stdio::null());
    // What a launcher gave to this process is not meant for that one.
    command.env_remove("XDG_ACTIVATION_TOKEN").env_remove("DESKTOP_STARTUP_ID");
    command.args(arguments).envs(variables);
    let failed = |source| WindowError::Spawn { program: program.clone(), source };
    let mut child = command.spawn().map_err(failed)?;
    // A thread waits for it, so no zombie is left.
    let (ended, end) = oneshot::channel();
    thread::Builder::new()
        .name("abide-gui-wait".to_owned())
        .spawn(move || drop(ended.send(child.wait())))
        .map_err(failed)?;
    Ok(Started { end })
}
