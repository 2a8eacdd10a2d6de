//! The daemon's log: a file of bounded size in the state folder, and stderr with `--foreground`.
//!
//! Logging never waits: lines go to a bounded queue, and are dropped and counted when it is full.

mod file;

pub use file::LogFile;

use std::{io, path::PathBuf};
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{EnvFilter, fmt, prelude::*};

/// The environment variable with the log filter, such as `abide_daemon=debug,info`.
pub const VARIABLE: &str = "ABIDE_LOG";
const DEFAULT: &str = "info";
/// The most lines that wait to be written.
const QUEUE: usize = 8 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("cannot write the log {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{VARIABLE} is not a log filter: {0}; an example is abide_daemon=debug,info")]
    Filter(String),
    #[error("this process has a log already")]
    Taken,
}

/// The running log; when it is dropped, queued lines are written.
#[must_use = "the log ends when this is dropped"]
pub struct Logging {
    dropped: ErrorCounter,
    _writer: WorkerGuard,
}

impl Logging {
    /// The number of lines dropped because the disk was too slow.
    #[must_use]
    pub fn dropped(&self) -> usize {
        self.dropped.dropped_lines()
    }
}

/// Starts this process's log. `filter` is the value of [`VARIABLE`], if it is set.
///
/// # Errors
/// The file cannot be written, the filter is invalid, or there is a log already.
pub fn init(dir: &std::path::Path, filter: Option<&str>, foreground: bool) -> Result<Logging, LogError> {
    let filter = EnvFilter::builder()
        .parse(filter.filter(|f| !f.trim().is_empty()).unwrap_or(DEFAULT))
        .map_err(|e| LogError::Filter(e.to_string()))?;
    let file = LogFile::open(dir)?;
    let (writer, guard) =
        NonBlockingBuilder::default().buffered_lines_limit(QUEUE).lossy(true).thread_name("log").finish(file);
    let dropped = writer.error_counter();
    let to_file = fmt::layer().with_writer(writer).with_ansi(false);
    let to_stderr = foreground
        .then(|| fmt::layer().with_writer(io::stderr).with_ansi(io::IsTerminal::is_terminal(&io::stderr())));
    tracing_subscriber::registry()
        .with(filter)
        .with(to_file)
        .with(to_stderr)
        .try_init()
        .map_err(|_| LogError::Taken)?;
    Ok(Logging { dropped, _writer: guard })
}
