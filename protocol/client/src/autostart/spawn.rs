use super::{CHECK_TIME, Checked, Start, StartError};
#[cfg(unix)]
use crate::fresh;
use crate::{ConnectError, Home, login, program, text};
use std::{
    fs::File,
    io::{self, Read, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    process::{self, Command, ExitStatus, Output, Stdio},
    thread,
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// The size at which the start log is begun anew, in bytes.
const MAX_LOG: u64 = 256 * 1024;
/// How much of its end an error shows: bytes, and lines.
const SHOWN_BYTES: u64 = 4096;
const SHOWN_LINES: usize = 20;

/// The pause between two looks at a program that is run to its end.
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// The exit code of an older program, which does not know the argument for a check.
const USAGE: i32 = 2;

pub(super) async fn check(home: &Home, start: &Start) -> Result<Checked, StartError> {
    let program = start.program.clone().or_else(program::daemon).ok_or(StartError::NotFound)?;
    let mut command = command(&program, home, Stdio::piped());
    command.arg("check").stdout(Stdio::piped());
    let run = tokio::task::spawn_blocking(move || run_within(command, CHECK_TIME));
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

/// Runs a program to its end, with the beginnings of its output; what it has started ends with it. `None`: it took longer than that, and was
/// killed.
fn run_within(mut command: Command, time: Duration) -> io::Result<Option<Output>> {
    let deadline = Instant::now() + time;
    let mut child = command.spawn()?;
    let in_time = loop {
        if has_ended(&mut child)? {
            break true;
        }
        if Instant::now() >= deadline {
            break false;
        }
        thread::park_timeout(LOOK_AGAIN);
    };
    let killed = end_group(&mut child);
    if !in_time {
        killed?;
    }
    let status = child.wait()?;
    if !in_time {
        return Ok(None);
    }
    let (stdout, stderr) = (child.stdout.take().map(beginning), child.stderr.take().map(beginning));
    Ok(Some(Output { status, stdout: stdout.unwrap_or_default(), stderr: stderr.unwrap_or_default() }))
}

/// Whether the process has ended. On Unix it is not waited for, so that its id, which is also that of its group, stays its own.
fn has_ended(child: &mut process::Child) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
    }
    #[cfg(not(unix))]
    Ok(child.try_wait()?.is_some())
}

/// Kills a process, unless it has ended, and all of its group: all that it has started, unless that has made itself a group of its own.
fn end_group(child: &mut process::Child) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        Ok(kill_process_group(Pid::from_child(child), Signal::KILL)?)
    }
    #[cfg(not(unix))]
    child.kill()
}

/// What can be read at once of a pipe whose writer has ended: another process may still have it open.
#[cfg(unix)]
fn beginning(pipe: impl std::os::fd::AsFd + Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    if rustix::io::ioctl_fionbio(&pipe, true).is_ok() {
        // It ends with an error if the pipe is still open; what was read is there.
        let _ = pipe.take(SHOWN_BYTES).read_to_end(&mut bytes);
    }
    bytes
}

#[cfg(not(unix))]
fn beginning(pipe: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = pipe.take(SHOWN_BYTES).read_to_end(&mut bytes);
    bytes
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

/// Detached: a session of its own, no terminal, a working folder that keeps no other folder in use, and nothing of this process but its
/// environment.
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
fn new_session(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: between fork and exec there are only system calls: no allocation, no lock, nothing of this process is touched.
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
