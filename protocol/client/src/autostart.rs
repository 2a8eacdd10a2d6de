//! Starts the daemon when it is not running.

mod spawn;

use crate::{Client, ConnectError, Options};
use abide_host::{
    home::{self, Home},
    program::{CheckError, NotFound},
};
use spawn::{Child, Log};
use std::{io, path::PathBuf, process::ExitStatus, time::Duration};
use tokio::time::Instant;

/// The first wait between two attempts to connect; it doubles up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(5);
/// The longest wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// How to start the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The program; absent: `$ABIDE_DAEMON`, else `abided` beside this program, else in `PATH`.
    pub program: Option<PathBuf>,
    /// How long it may take until the daemon answers.
    pub deadline: Duration,
}

impl Default for Start {
    fn default() -> Self {
        Self { program: None, deadline: Duration::from_secs(10) }
    }
}

/// Why the daemon could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    NotFound(#[from] NotFound),
    #[error("cannot start {program}: {source}", program = program.display())]
    Spawn { program: PathBuf, source: io::Error },
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error("cannot write the start log {path}: {source}", path = path.display())]
    Log { path: PathBuf, source: io::Error },
    #[error("the daemon ended while starting ({status}); its log is {log}{said}", log = log.display(), said = said(last_lines))]
    Exited { status: ExitStatus, log: PathBuf, last_lines: String },
    #[error("the daemon did not answer within {} ms ({last}); its log is {log}", waited.as_millis(), log = log.display())]
    Deadline { waited: Duration, last: String, log: PathBuf },
}

fn said(last_lines: &str) -> String {
    if last_lines.is_empty() { String::new() } else { format!("; it said:\n{last_lines}") }
}

/// Connects; starts the daemon first if it is not running.
///
/// # Errors
/// See [`ConnectError`].
pub async fn connect_or_start(home: &Home, options: Options) -> Result<Client, ConnectError> {
    connect_with(home, options, &Start::default()).await
}

/// Starts the daemon unless it is running, and returns when it answers.
///
/// # Errors
/// See [`ConnectError`].
pub async fn start(home: &Home, options: Options, start: &Start) -> Result<(), ConnectError> {
    connect_with(home, options, start).await.map(drop)
}

/// [`connect_or_start`] with options for the start.
///
/// Clients that connect at the same moment may each start a daemon: one daemon gets the lock, the others end,
/// and all clients connect to the one. A daemon that is shutting down is waited for, then a new one is
/// started.
///
/// # Errors
/// See [`ConnectError`].
pub async fn connect_with(home: &Home, options: Options, start: &Start) -> Result<Client, ConnectError> {
    if options.socket.is_some() {
        return Client::connect(home, options).await;
    }
    let begun = Instant::now();
    let mut wait = FIRST_WAIT;
    let mut child: Option<Child> = None;
    loop {
        let problem = match Client::connect(home, options.clone()).await {
            Err(e @ (ConnectError::NotRunning { .. } | ConnectError::Closed(_))) => e,
            Err(ConnectError::Refused(e)) if e.data.retryable => ConnectError::Refused(e),
            settled => return settled,
        };
        let waited = begun.elapsed();
        if waited >= start.deadline {
            let log = Log::path(home);
            return Err(StartError::Deadline { waited, last: problem.to_string(), log }.into());
        }
        match &mut child {
            None if home::is_held(home) => {}
            None => child = Some(Child::spawn(home, start)?),
            Some(running) => {
                if let Some(status) = running.ended() {
                    if !home::is_held(home) {
                        return Err(running.failed(status).into());
                    }
                    // Another daemon got the lock first.
                    child = None;
                }
            }
        }
        match &mut child {
            Some(running) => drop(tokio::time::timeout(wait, running.end()).await),
            None => tokio::time::sleep(wait).await,
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}
