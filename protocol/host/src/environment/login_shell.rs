//! The environment that a person's login shell sets up.

use crate::run_within::run_within;
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

/// A shell that takes longer is killed.
const TIME: Duration = Duration::from_secs(2);

/// What a pipe holds, in bytes: a larger environment is not read.
const MOST: u64 = 64 * 1024;

/// Stands around the environment: the files that a shell reads may print something, too.
const MARK: &str = "=abide-environment=";

/// What a login shell has set up.
#[derive(Debug)]
pub struct LoginShell {
    pub program: PathBuf,
    pub variables: BTreeMap<String, String>,
    pub took: Duration,
}

/// Why its environment is not known.
#[derive(Debug, thiserror::Error)]
pub enum LoginShellError {
    #[error("which login shell this user has is not known: `SHELL` is not set")]
    Unknown,
    #[error("the login shell {program} cannot be run: {source}", program = .program.display())]
    Run { program: PathBuf, source: io::Error },
    #[error(
        "the login shell {program} did not print its environment within {} s; the files that it reads may wait for something",
        TIME.as_secs(),
        program = .program.display()
    )]
    Slow { program: PathBuf },
    #[error("the login shell {program} did not print its environment ({status})", program = .program.display())]
    Silent { program: PathBuf, status: ExitStatus },
}

/// Runs the person's login shell in this environment, and reads the one that it has then. Blocking, at most
/// two seconds.
///
/// # Errors
/// See [`LoginShellError`].
pub fn login_shell(environment: &BTreeMap<String, String>) -> Result<LoginShell, LoginShellError> {
    // Cron sets `SHELL` to this for everybody.
    let named = environment.get("SHELL").filter(|shell| *shell != "/bin/sh").map(PathBuf::from);
    let program = named.or_else(of_user).ok_or(LoginShellError::Unknown)?;
    read(program, environment)
}

/// The shell that the system has for this user.
#[cfg(unix)]
fn of_user() -> Option<PathBuf> {
    let user = rustix::process::getuid().as_raw().to_string();
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let mut users = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let shell = users.find(|fields| fields.get(2) == Some(&user.as_str()))?.get(6).map(PathBuf::from)?;
    Some(shell).filter(|shell| shell.is_absolute())
}

#[cfg(not(unix))]
fn of_user() -> Option<PathBuf> {
    None
}

#[expect(clippy::disallowed_methods, reason = "like the daemon and the window, it is started by a client")]
fn read(program: PathBuf, environment: &BTreeMap<String, String>) -> Result<LoginShell, LoginShellError> {
    let began = Instant::now();
    let script = format!("printf %s {MARK}; /usr/bin/env -0; printf %s {MARK}");
    let mut command = Command::new(&program);
    // Many set up their tools only for a shell that one types into.
    let flags: &[&str] = if is_csh(&program) { &["-ic"] } else { &["-l", "-i", "-c"] };
    command.args(flags).arg(script).env_clear().envs(environment);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    if let Some(home) = environment.get("HOME").filter(|home| Path::new(home).is_dir()) {
        command.current_dir(home);
    }
    #[cfg(unix)]
    crate::fresh::new_session(&mut command);
    let output = match run_within(command, TIME, MOST) {
        Ok(Some(output)) => output,
        Ok(None) => return Err(LoginShellError::Slow { program }),
        Err(source) => return Err(LoginShellError::Run { program, source }),
    };
    match printed(&output.stdout) {
        Some(variables) => Ok(LoginShell { program, variables, took: began.elapsed() }),
        None => Err(LoginShellError::Silent { program, status: output.status }),
    }
}

fn is_csh(program: &Path) -> bool {
    program.file_name().is_some_and(|name| name == "csh" || name == "tcsh")
}

fn printed(output: &[u8]) -> Option<BTreeMap<String, String>> {
    let text = String::from_utf8_lossy(output);
    let (_, text) = text.split_once(MARK)?;
    let (text, _) = text.rsplit_once(MARK)?;
    let variable =
        |entry: &str| entry.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    Some(text.split('\0').filter_map(variable).collect())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn shell(folder: &Path, script: &str) -> PathBuf {
        let program = folder.join("shell");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        program
    }

    /// One test: while one thread writes a program, another must not fork.
    #[test]
    fn what_a_login_shell_sets_up_is_read_and_one_that_waits_or_fails_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let script = "echo Welcome; export NODE=\"$1 $2 $3\" LINES='two\nlines' PATH=/opt/node:$PATH; eval \"$4\"; echo Bye";
        let program = shell(folder.path(), script);
        let given = [("PATH", "/usr/bin:/bin"), ("SHELL", program.to_str().unwrap()), ("DISPLAY", ":0")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let LoginShell { program: ran, variables, .. } = login_shell(&given).unwrap();
        assert_eq!(ran, program);
        for (name, value) in [
            ("NODE", "-l -i -c"),
            ("LINES", "two\nlines"),
            ("PATH", "/opt/node:/usr/bin:/bin"),
            ("DISPLAY", ":0"),
        ] {
            assert_eq!(variables.get(name).map(String::as_str), Some(value), "{name}");
        }
        let none = BTreeMap::new();
        let why = |script: &str| read(shell(folder.path(), script), &none).unwrap_err().to_string();
        assert!(why("exit 3").contains("did not print its environment (exit status: 3)"));
        assert!(why("/bin/sleep 600").contains("within 2 s"));
    }
}
