//! systemd's user manager and its login manager, through `systemctl` and `loginctl`. No other part of this
//! program knows systemd's commands.

use crate::{error::CommandError, output::text};
use abide_host::login::{SERVICE, SOCKET};
use std::{io, process::Stdio, time::Duration};
use tokio::{process::Command, time::timeout};

/// How long a command may take. Stopping the daemon takes the longest: `TimeoutStopSec=15` in its unit.
const PATIENCE: Duration = Duration::from_secs(25);

/// The user manager of this login session, which answers.
pub(crate) struct UserManager(());

impl UserManager {
    /// # Errors
    /// There is none, or it does not answer: why, in words.
    pub(crate) async fn find() -> Result<Self, String> {
        if std::env::var_os("XDG_RUNTIME_DIR").is_none_or(|dir| dir.is_empty()) {
            return Err("XDG_RUNTIME_DIR is not set, so this is no login session".to_owned());
        }
        systemctl(&["show", "--property=Version"]).await.map(|_| Self(()))
    }

    /// Reads the units again.
    pub(crate) async fn reload(&self) -> Result<(), CommandError> {
        self.ask(&["daemon-reload"]).await
    }

    /// Whether systemd starts the units at login.
    pub(crate) async fn is_enabled(&self) -> bool {
        // It succeeds if one of them is enabled, and prints a word for each.
        let said = systemctl(&["is-enabled", SERVICE, SOCKET]).await.unwrap_or_default();
        let words: Vec<&str> = said.split_whitespace().collect();
        words.len() == 2 && words.iter().all(|word| word.starts_with("enabled"))
    }

    pub(crate) async fn enable(&self) -> Result<(), CommandError> {
        self.ask(&["enable", SERVICE, SOCKET]).await
    }

    /// Disables and stops them. The daemon ends as it does after `abide daemon stop`.
    pub(crate) async fn disable_now(&self) -> Result<(), CommandError> {
        self.ask(&["disable", "--now", SOCKET, SERVICE]).await
    }

    /// Starts the daemon's unit, and so its socket.
    pub(crate) async fn start(&self) -> Result<(), CommandError> {
        // After a start that failed too often systemd refuses the next one until it is told to forget.
        drop(systemctl(&["reset-failed", SERVICE, SOCKET]).await);
        self.ask(&["start", SERVICE]).await
    }

    /// The environment of what it starts, a variable a line; empty if it does not say.
    pub(crate) async fn environment(&self) -> String {
        systemctl(&["show-environment"]).await.unwrap_or_default()
    }

    /// Whether this user's units go on without a login session; `None` if systemd does not say.
    pub(crate) async fn lingers(&self) -> Option<bool> {
        let user = uid();
        let said =
            run("loginctl", &["show-user", &user, "--property=Linger", "--value"], PATIENCE).await.ok()?;
        match said.trim() {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        }
    }

    pub(crate) async fn set_linger(&self, on: bool) -> Result<(), CommandError> {
        let verb = if on { "enable-linger" } else { "disable-linger" };
        let done = run("loginctl", &["--no-ask-password", verb], PATIENCE).await;
        done.map(drop).map_err(CommandError::failed)
    }

    async fn ask(&self, arguments: &[&str]) -> Result<(), CommandError> {
        systemctl(arguments).await.map(drop).map_err(CommandError::failed)
    }
}

#[cfg(unix)]
fn uid() -> String {
    rustix::process::getuid().as_raw().to_string()
}

#[cfg(not(unix))]
fn uid() -> String {
    String::new()
}

async fn systemctl(arguments: &[&str]) -> Result<String, String> {
    run("systemctl", &[&["--user", "--no-pager", "--no-ask-password"], arguments].concat(), PATIENCE).await
}

/// Runs it to its end; it is killed when its time is over. Returns its standard output, or what went wrong,
/// in words.
async fn run(program: &str, arguments: &[&str], patience: Duration) -> Result<String, String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "systemd's programs end at once and are looked after until they do"
    )]
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let shown = format!("`{program} {}`", arguments.join(" "));
    match timeout(patience, command.output()).await {
        Err(_) => Err(format!("{shown} did not end within {} ms and was killed", patience.as_millis())),
        Ok(Err(e)) if e.kind() == io::ErrorKind::NotFound => Err(format!("there is no {program} here")),
        Ok(Err(e)) => Err(format!("cannot start {program}: {e}")),
        Ok(Ok(output)) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(Ok(output)) => {
            let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
            Err(format!("{shown} failed ({}): {}", output.status, text::one_line(&said)))
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::run;
    use std::time::Duration;

    #[tokio::test]
    async fn a_command_that_hangs_is_killed_and_named() {
        let hung = run("sleep", &["600"], Duration::from_millis(50)).await.unwrap_err();
        assert_eq!(hung, "`sleep 600` did not end within 50 ms and was killed");
    }

    #[tokio::test]
    async fn a_command_that_fails_is_named_with_its_words() {
        let patience = Duration::from_secs(60);
        let failed = run("sh", &["-c", "echo no bus >&2; exit 3"], patience).await.unwrap_err();
        assert!(failed.ends_with("failed (exit status: 3): no bus"), "{failed}");
        assert_eq!(
            run("abide-no-such-program", &[], patience).await.unwrap_err(),
            "there is no abide-no-such-program here"
        );
    }
}
