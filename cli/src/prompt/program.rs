//! Programs of the person's own, which get the terminal as long as they run.

use std::{
    env,
    ffi::OsStr,
    io,
    path::Path,
    process::{ExitStatus, Stdio},
};
use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, Command},
};

/// The exit code of a shell that does not find the program.
const NOT_FOUND: i32 = 127;

/// Runs a command line in the person's shell, in this folder.
///
/// # Errors
/// The shell cannot be started.
pub(crate) async fn run(line: &str, folder: &Path) -> io::Result<ExitStatus> {
    let shell = env::var_os("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "sh".into());
    let mut command = program(shell);
    command.arg("-c").arg(line).current_dir(folder).kill_on_drop(true);
    until_ended(command.spawn()?).await
}

/// Shows a text with the person's pager (`PAGER`, else `less`). `false`: there is none.
pub(crate) async fn view(text: &str) -> bool {
    let pager = env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let mut command = program("sh");
    command.arg("-c").arg(pager.as_deref().unwrap_or("less")).stdin(Stdio::piped()).kill_on_drop(true);
    let Ok(mut child) = command.spawn() else { return false };
    let input = child.stdin.take();
    let fed = async {
        if let Some(mut input) = input {
            // A pager that is left early does not read the rest.
            drop(input.write_all(text.as_bytes()).await);
        }
    };
    let (ended, ()) = tokio::join!(until_ended(child), fed);
    ended.is_ok_and(|ended| ended.code() != Some(NOT_FOUND))
}

#[expect(clippy::disallowed_methods, reason = "the person asks for it at their terminal; no task does")]
fn program(name: impl AsRef<OsStr>) -> Command {
    Command::new(name)
}

/// Ctrl-C is the program's meanwhile.
async fn until_ended(mut child: Child) -> io::Result<ExitStatus> {
    loop {
        tokio::select! {
            ended = child.wait() => return ended,
            _ = tokio::signal::ctrl_c() => {}
        }
    }
}
