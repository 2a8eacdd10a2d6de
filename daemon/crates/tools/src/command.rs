//! A command under its helper, on the daemon's side: starts it, reads its output, ends it in time.

mod fork_server;
mod line;
mod live;
mod output;
mod program;
mod spool;
mod start;
mod time_limit;
mod trial;
mod watching;

pub(crate) use fork_server::ForkServer;
pub(crate) use live::{Live, LiveGuard};
pub(crate) use program::{find, is_trusted, shell};
pub(crate) use spool::{SpoolFiles, kept, remove};
pub(crate) use start::{Link, Redirect, Start, Waiting};
pub(crate) use trial::try_helper;
pub(crate) use watching::Watching;

use crate::{
    helper::{CommandEnd, KILL, Report, STOP},
    process::{self, Identity},
    sub_tasks::SubTasks,
    text::Capture,
};
use line::CodeLine;
use output::Output;
use spool::Spool;
use std::time::Duration;
use time_limit::TimeLimit;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines, Take},
    net::unix::OwnedReadHalf,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

/// How long a helper may take to report after a stopped command's time is over. Then the helper counts as
/// lost.
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
    /// Processes that the command left behind and that were killed.
    pub(crate) left_behind: usize,
    /// Processes that could not be killed.
    pub(crate) survivors: usize,
    /// The handles of the sub-tasks that the command has started.
    pub(crate) forked: Vec<String>,
    /// Why the command's line was closed, if that was the command's fault.
    pub(crate) line_fault: Option<&'static str>,
}

pub(crate) enum How {
    Exited(i32),
    /// Killed by this signal.
    Killed(i32),
    NotStarted(String),
    TimedOut,
    Cancelled,
    /// A person's git would have run something that the command has made.
    Offended,
    /// The helper died or hung. The daemon killed its processes.
    HelperLost,
    /// The command used more than it may; in words.
    Exceeded(String),
}

/// Why a command is ended early.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    TimedOut,
    Cancelled,
    Offended,
}

/// Reads a command's output and report, and serves its line, until no process of the command runs. The
/// command's time stands still while it waits for a sub-task.
pub(crate) async fn follow(
    link: Link,
    limit: Duration,
    cancel: &CancellationToken,
    sub_tasks: &dyn SubTasks,
    mut watching: Option<Watching>,
    mut show: Box<dyn FnMut(&str) + Send>,
) -> Ended {
    let Link { stdout, stderr, line, connection, mut spool, call, identity, live, needs } = link;
    let grace = needs.0.confinement.grace();
    let (read, mut write) = connection.into_split();
    let mut reports = BufReader::new(read.take(MAX_REPORT)).lines();
    let mut stdout = Output::new(Some(stdout));
    let mut stderr = Output::new(Some(stderr));
    let mut line = CodeLine::new(line, sub_tasks);
    let mut time = TimeLimit::of(limit);
    let mut stop = None;
    let report = loop {
        let end = tokio::select! {
            Some(piece) = stdout.next() => {
                keep(&piece, &mut show, &mut spool);
                None
            }
            Some(piece) = stderr.next() => {
                keep(&piece, &mut show, &mut spool);
                None
            }
            report = read_report(&mut reports) => break report,
            () = line.next() => {
                time.stand_still(line.is_waiting());
                None
            }
            () = cancel.cancelled(), if stop.is_none() => Some(Stop::Cancelled),
            () = watching::offence(&mut watching), if stop.is_none() => Some(Stop::Offended),
            () = time.over() => match stop {
                None => Some(Stop::TimedOut),
                Some(_) => break None,
            },
        };
        if end.is_some() {
            stop = end;
            line.close();
            time = TimeLimit::of(grace + PATIENCE);
            // A command that offends gets no time to clean up.
            let _ = write.write_all(&[if stop == Some(Stop::Offended) { KILL } else { STOP }]).await;
        }
    };
    line.close();
    let lost = report.is_none();
    let report = match report {
        Some(report) => report,
        // The helper was killed or halted, perhaps by its own command. The daemon kills the process tree.
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
    drop((live, needs));
    let how = match (stop, lost, report.ending) {
        (Some(Stop::Cancelled), ..) => How::Cancelled,
        (Some(Stop::TimedOut), ..) => How::TimedOut,
        (Some(Stop::Offended), ..) => How::Offended,
        (None, true, _) => How::HelperLost,
        (None, false, _) if let Some(what) = report.exceeded => How::Exceeded(what),
        (None, false, CommandEnd::Exited(code)) => How::Exited(code),
        (None, false, CommandEnd::Killed(signal)) => How::Killed(signal),
        (None, false, CommandEnd::NotStarted(why)) => How::NotStarted(why),
    };
    let (stdout, stderr) = (stdout.captured, stderr.captured);
    Ended {
        how,
        stdout,
        stderr,
        left_behind: report.ended,
        survivors: report.survivors,
        forked: line.handles(),
        line_fault: line.fault(),
    }
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
    Report {
        ending: CommandEnd::Exited(0),
        ended: leftover.ended,
        survivors: leftover.survivors,
        exceeded: None,
    }
}
