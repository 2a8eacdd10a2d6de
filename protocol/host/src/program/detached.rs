//! A program that goes on when the process that starts it has ended.

#[cfg(unix)]
use crate::fresh;
use crate::{Home, login};
use std::{
    path::Path,
    process::{Command, Stdio},
};

/// Detached: a session of its own, no terminal, a working folder that keeps no other folder in use, and
/// nothing of this process but its environment.
#[expect(clippy::disallowed_methods, reason = "daemon and window are the processes that a client starts")]
#[must_use]
pub fn detached(program: &Path, home: &Home, stderr: impl Into<Stdio>) -> Command {
    let mut command = Command::new(program);
    command.env(login::STARTED_BY, login::BY_CLIENT);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).current_dir("/");
    match home.root() {
        Some(root) => command.env("ABIDE_HOME", root),
        None => command.env_remove("ABIDE_HOME"),
    };
    #[cfg(unix)]
    fresh::new_session(&mut command);
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt as _;
        /// `DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP`.
        const DETACHED: u32 = 0x0000_0008 | 0x0000_0200;
        command.creation_flags(DETACHED);
    }
    command
}
