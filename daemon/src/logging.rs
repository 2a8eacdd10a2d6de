//! The daemon's log: a file of bounded size in the state folder, and stderr in the foreground.
//!
//! Writing never waits: a line goes to a bounded queue, and is dropped and counted when that is full.

mod file;

pub use file::LogFile;

use std::{io, path::PathBuf};
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{EnvFilter, fmt, prelude::*};

/// The variable that says what is logged, as in `abide_daemon=debug,info`.
pub const VARIABLE: &str = "ABIDE_LOG";
const DEFAULT: &str = "info";
/// Lines on their way to the file.
const QUEUE: usize = 8 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("cannot write the log {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{VARIABLE} is not a log filter: {0}; an example is abide_daemon=debug,info")]
    Filter(String),
    #[error("a log is being written already")]
    Taken,
}

/// Keeps the log going; when it is dropped, what is queued is written.
#[must_use = "the log ends when this is dropped"]
pub struct Logging {
    dropped: ErrorCounter,
    _writer: WorkerGuard,
}

impl Logging {
    /// Lines that were dropped because the disk could not keep up.
    #[must_use]
    pub fn dropped(&self) -> usize {
        self.dropped.dropped_lines()
    }
}

/// Begins the log of this process. `filter` is the value of [`VARIABLE`], if it is set.
///
/// # Errors
/// The file cannot be written, the filter makes no sense, or there is a log already.
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
