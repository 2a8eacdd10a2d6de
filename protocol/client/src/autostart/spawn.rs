use super::{Start, StartError};
use crate::ConnectError;
use abide_host::{Home, program, text};
use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::PathBuf,
    process::ExitStatus,
    thread,
};
use tokio::sync::oneshot;

/// The size at which the start log is begun anew, in bytes.
const MAX_LOG: u64 = 256 * 1024;
/// How much of its end an error shows: bytes, and lines.
const SHOWN_BYTES: u64 = 4096;
const SHOWN_LINES: usize = 20;

/// A daemon that was started and may not answer yet.
pub(super) struct Child {
    /// Completed when the process ends. A thread waits for it, so no zombie is left.
    end: oneshot::Receiver<io::Result<ExitStatus>>,
    status: Option<ExitStatus>,
    log: Log,
}

impl Child {
    pub(super) fn spawn(home: &Home, start: &Start) -> Result<Self, ConnectError> {
        let program = start.program.clone().map_or_else(program::daemon, Ok).map_err(StartError::from)?;
        home.create()?;
        let (log, stderr) = Log::open(home)?;
        let failed = |source| StartError::Spawn { program: program.clone(), source };
        let mut child = program::detached(&program, home, stderr).spawn().map_err(failed)?;
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
