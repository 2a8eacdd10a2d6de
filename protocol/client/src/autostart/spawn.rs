use super::{Start, StartError};
use crate::{ConnectError, Home, program, text};
use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    thread,
};
use tokio::sync::oneshot;

/// The size at which the start log is begun anew, in bytes.
const MAX_LOG: u64 = 256 * 1024;
/// How much of its end an error shows: bytes, and lines.
const SHOWN_BYTES: u64 = 4096;
const SHOWN_LINES: usize = 20;

/// The exit code of an older program, which does not know the argument for a check.
const USAGE: i32 = 2;

pub(super) async fn check(home: &Home, start: &Start) -> Result<(), StartError> {
    let program = start.program.clone().or_else(program::daemon).ok_or(StartError::NotFound)?;
    let mut command = command(&program, home, Stdio::piped());
    command.args(["config", "check"]);
    let failed = |source| StartError::Spawn { program: program.clone(), source };
    let run = tokio::task::spawn_blocking(move || command.output());
    let output = run.await.map_err(io::Error::other).and_then(|run| run).map_err(failed)?;
    if output.status.success() || output.status.code() == Some(USAGE) {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim();
    Err(StartError::Refused {
        said: text::visible(said.strip_prefix("error: ").unwrap_or(said)).into_owned(),
    })
}

/// A daemon that was started and may not answer yet.
pub(super) struct Child {
    /// Completed when the process ends. A thread waits for it, so no zombie is left.
    end: oneshot::Receiver<io::Result<ExitStatus>>,
    status: Option<ExitStatus>,
    log: Log,
}

impl Child {
    pub(super) fn spawn(home: &Home, start: &Start) -> Result<Self, ConnectError> {
        let program = start.program.clone().or_else(program::daemon).ok_or(StartError::NotFound)?;
        home.create()?;
        let (log, stderr) = Log::open(home)?;
        let failed = |source| StartError::Spawn { program: program.clone(), source };
        let mut child = command(&program, home, stderr).spawn().map_err(failed)?;
        let (sender, end) = oneshot::channel();
        thread::Builder::new()
            .name("abided-wait".to_owned())
            .spawn(move || drop(sender.send(child.wait())))
            .map_err(failed)?;
        Ok(Self { end, status: None, log })
    }

    /// Returns when the process has ended. Cancel-safe.
    pub(super) async fn end(&mut self) {
        if self.status.is_none() {
            let ended = (&mut self.end).await;
            self.status = Some(ended.ok().and_then(Result::ok).unwrap_or_default());
        }
    }

    /// How the process ended, if it has.
    pub(super) const fn ended(&self) -> Option<ExitStatus> {
        self.status
    }

    pub(super) fn failed(&self, status: ExitStatus) -> StartError {
        StartError::Exited { status, log: self.log.path.clone(), last_lines: self.log.last_lines() }
    }
}

/// Detached: a session of its own, no terminal, and a working folder that keeps no other folder in use.
#[expect(clippy::disallowed_methods, reason = "the daemon is the one process that a client starts")]
fn command(program: &Path, home: &Home, stderr: impl Into<Stdio>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).current_dir("/");
    match home.root() {
        Some(root) => command.env("ABIDE_HOME", root),
        None => command.env_remove("ABIDE_HOME"),
    };
    #[cfg(unix)]
    new_session(&mut command);
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt as _;
        /// `DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP`.
        const DETACHED: u32 = 0x0000_0008 | 0x0000_0200;
        command.creation_flags(DETACHED);
    }
    command
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "std has no other way to a new session; setsid(2) is async-signal-safe")]
fn new_session(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: between fork and exec only setsid(2) is called: no allocation, no lock, nothing of this process is touched.
    unsafe {
        command.pre_exec(|| rustix::process::setsid().map(drop).map_err(io::Error::from));
    }
}

/// The daemon's stderr before it opens its own log.
pub(super) struct Log {
    path: PathBuf,
    /// Where this start's part begins.
    from: u64,
}

impl Log {
    pub(super) fn path(home: &Home) -> PathBuf {
        home.state_dir.join("start.log")
    }

    fn open(home: &Home) -> Result<(Self, File), StartError> {
        let path = Self::path(home);
        let opened = || {
            let mut options = File::options();
            options.create(true).append(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = options.open(&path)?;
            // One of an earlier version was readable by everybody.
            #[cfg(unix)]
            file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
            if file.metadata()?.len() > MAX_LOG {
                file.set_len(0)?;
            }
            Ok((file.metadata()?.len(), file))
        };
        match opened() {
            Ok((from, file)) => Ok((Self { path, from }, file)),
            Err(source) => Err(StartError::Log { path, source }),
        }
    }

    /// The end of this start's output, safe for a terminal; empty if it cannot be read.
    fn last_lines(&self) -> String {
        let read = || {
            let mut file = File::open(&self.path)?;
            let end = file.metadata()?.len();
            file.seek(SeekFrom::Start(self.from.max(end.saturating_sub(SHOWN_BYTES))))?;
            let mut bytes = Vec::new();
            file.take(SHOWN_BYTES).read_to_end(&mut bytes)?;
            Ok::<_, io::Error>(bytes)
        };
        let bytes = read().unwrap_or_default();
        let said = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = said.trim_end().lines().collect();
        text::visible(&lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")).into_owned()
    }
}
