use super::{CHECK_TIME, Checked, Start, StartError};
#[cfg(unix)]
use crate::fresh;
use crate::{ConnectError, Home, login, program, run_within::run_within, text};
use std::{
    fs::File,
    io::{self, Read, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Output, Stdio},
    thread,
};
use tokio::sync::oneshot;

/// The size at which the start log is begun anew, in bytes.
const MAX_LOG: u64 = 256 * 1024;
/// How much of its end an error shows: bytes, and lines.
const SHOWN_BYTES: u64 = 4096;
const SHOWN_LINES: usize = 20;

/// The exit code of a program that does not know the argument for a check.
const USAGE: i32 = 2;

pub(super) async fn check(home: &Home, start: &Start) -> Result<Checked, StartError> {
    let program = start.program.clone().or_else(program::daemon).ok_or(StartError::NotFound)?;
    let mut command = command(&program, home, Stdio::piped());
    command.arg("check").stdout(Stdio::piped());
    let run = tokio::task::spawn_blocking(move || run_within(command, CHECK_TIME, SHOWN_BYTES));
    let run = run.await.map_err(io::Error::other).and_then(|run| run);
    let Output { status, stdout, stderr } = match run {
        Ok(Some(output)) => output,
        Ok(None) => return Err(StartError::Silent { program }),
        Err(source) => return Err(StartError::Spawn { program, source }),
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
    Err(StartError::Refused { said: if why.is_empty() { status.to_string() } else { why.to_owned() } })
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

/// Detached: a session of its own, no terminal, a working folder that keeps no other folder in use, and
/// nothing of this process but its environment.
#[expect(clippy::disallowed_methods, reason = "daemon and window are the processes that a client starts")]
pub(super) fn command(program: &Path, home: &Home, stderr: impl Into<Stdio>) -> Command {
    let mut command = Command::new(program);
    command.env(login::STARTED_BY, login::BY_CLIENT);
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
pub(crate) fn new_session(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: between fork and exec there are only system calls: no allocation, no lock, nothing of this
    // process is touched.
    unsafe {
        command.pre_exec(|| {
            fresh::restore_all();
            rustix::process::setsid().map(drop).map_err(io::Error::from)
        });
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
