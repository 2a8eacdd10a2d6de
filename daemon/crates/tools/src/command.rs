//! A command under its helper, on the daemon's side: starts it, reads its output, ends it in time.

mod fork_server;
mod live;
mod output;
mod program;
mod spool;
mod start;

pub(crate) use fork_server::ForkServer;
pub(crate) use live::Live;
pub(crate) use program::{find, shell};
pub(crate) use spool::{SpoolFiles, kept, remove};
pub(crate) use start::{Link, Start, Waiting};

use crate::{
    helper::{CommandEnd, Report, STOP},
    process::{self, Identity},
    text::Capture,
};
use output::Output;
use spool::Spool;
use std::time::Duration;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines, Take},
    net::unix::OwnedReadHalf,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

/// The helper gives a stopped command 300 ms. If it has not reported after this, the helper itself is taken for lost.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long the pipes are read after all processes have ended.
const DRAIN: Duration = Duration::from_secs(1);

/// The longest report line, in bytes.
const MAX_REPORT: u64 = 64 * 1024;

/// How a command ended, and its output.
pub(crate) struct Ended {
    pub(crate) how: How,
    pub(crate) stdout: Capture,
    pub(crate) stderr: Capture,
    /// Processes that it left behind and that were killed.
    pub(crate) left_behind: usize,
    /// Processes that could not be killed.
    pub(crate) survivors: usize,
}

pub(crate) enum How {
    Exited(i32),
    /// By this signal.
    Killed(i32),
    NotStarted(String),
    TimedOut,
    Cancelled,
    /// The helper died or hung; its processes were killed without it.
    HelperLost,
}

/// Why a command is ended early.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    TimedOut,
    Cancelled,
}

/// Reads a command's output and report until no process of it runs any more.
pub(crate) async fn follow(
    link: Link,
    deadline: Duration,
    cancel: &CancellationToken,
    mut show: Box<dyn FnMut(&str) + Send>,
) -> Ended {
    let Link { stdout, stderr, connection, mut spool, call, identity, live } = link;
    let (read, mut write) = connection.into_split();
    let mut reports = BufReader::new(read.take(MAX_REPORT)).lines();
    let mut stdout = Output::new(Some(stdout));
    let mut stderr = Output::new(Some(stderr));
    let mut until = Instant::now() + deadline;
    let mut stop = None;
    let report = loop {
        tokio::select! {
            Some(piece) = stdout.next() => keep(&piece, &mut show, &mut spool),
            Some(piece) = stderr.next() => keep(&piece, &mut show, &mut spool),
            report = read_report(&mut reports) => break report,
            () = cancel.cancelled(), if stop.is_none() => {
                stop = Some(Stop::Cancelled);
                until = Instant::now() + PATIENCE;
                let _ = write.write_all(&[STOP]).await;
            }
            () = sleep_until(until) => {
                if stop.is_some() {
                    break None;
                }
                stop = Some(Stop::TimedOut);
                until = Instant::now() + PATIENCE;
                let _ = write.write_all(&[STOP]).await;
            }
        }
    };
    let lost = report.is_none();
    let report = match report {
        Some(report) => report,
        // The helper was killed or halted, perhaps by its own command: its process tree is killed from here.
        None => end_without_helper(identity, call).await,
    };
    drop(write);
    let drained = async {
        loop {
            tokio::select! {
                Some(piece) = stdout.next() => keep(&piece, &mut show, &mut spool),
                Some(piece) = stderr.next() => keep(&piece, &mut show, &mut spool),
                else => break,
            }
        }
    };
    let _ = timeout(DRAIN, drained).await;
    for rest in [stdout.finish(), stderr.finish()] {
        keep(rest, &mut show, &mut spool);
    }
    spool.finish().await;
    drop(live);
    let how = match (stop, lost, report.ending) {
        (Some(Stop::Cancelled), ..) => How::Cancelled,
        (Some(Stop::TimedOut), ..) => How::TimedOut,
        (None, true, _) => How::HelperLost,
        (None, false, CommandEnd::Exited(code)) => How::Exited(code),
        (None, false, CommandEnd::Killed(signal)) => How::Killed(signal),
        (None, false, CommandEnd::NotStarted(why)) => How::NotStarted(why),
    };
    let (stdout, stderr) = (stdout.captured, stderr.captured);
    Ended { how, stdout, stderr, left_behind: report.ended, survivors: report.survivors }
}

fn keep(piece: &str, show: &mut Box<dyn FnMut(&str) + Send>, spool: &mut Spool) {
    if !piece.is_empty() {
        show(piece);
        spool.write(piece);
    }
}

/// `None` if the helper closed the connection without a report.
async fn read_report(lines: &mut Lines<BufReader<Take<OwnedReadHalf>>>) -> Option<Report> {
    let line = lines.next_line().await.ok()??;
    serde_json::from_str(&line).ok()
}

async fn end_without_helper(identity: Option<Identity>, call: String) -> Report {
    tracing::warn!(call, "a tool helper was lost; ending what it watched over");
    let end = move || process::end_call(identity.as_ref(), &call, PATIENCE);
    let leftover = tokio::task::spawn_blocking(end).await.unwrap_or_default();
    Report { ending: CommandEnd::Exited(0), ended: leftover.ended, survivors: leftover.survivors }
}
