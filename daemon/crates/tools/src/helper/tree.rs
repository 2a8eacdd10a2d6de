use super::{CommandEnd, Report, STOP, limits::Limited, stage::ChildEnds};
use crate::process::{Leftover, Patience, end_descendants, signal_descendants, wait_descendants};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{
        Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, getpid, kill_process_group, wait, waitid,
    },
};
use std::{
    io::Read as _,
    os::unix::net::UnixStream,
    time::{Duration, Instant},
};

/// How long the processes that a command leaves behind have to end, such as a `tee` that writes the last
/// lines.
const LINGER: Patience = Patience {
    idle: Duration::from_millis(100),
    // On a busy machine processes may have to wait for their turn.
    busy: Duration::from_secs(2),
};

/// How long a killed process may take to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many rounds in a row may find nothing to kill before the killing is given up. A look at the process
/// table may miss a process that is born while its parent dies. Such a process is adopted, and the next look
/// finds it.
const FRUITLESS: u32 = 10;

/// The command and all its descendants. They descend from this process, or this process adopts them.
pub(super) struct Tree<'a> {
    command: Pid,
    /// How the command itself ended, once it has ended.
    ending: Option<CommandEnd>,
    ends: ChildEnds,
    daemon: &'a UnixStream,
    limited: Option<Limited>,
    /// How long processes have to clean up after they are asked to end.
    grace: Duration,
}

/// What can happen while the tree is watched.
enum Event {
    ChildEnded,
    /// The daemon asks for the command's end.
    Stop,
    /// The daemon asks for the command's end at once, or has closed the connection.
    Abandoned,
    TimeOver,
}

impl<'a> Tree<'a> {
    pub(super) const fn new(
        command: Pid,
        ends: ChildEnds,
        daemon: &'a UnixStream,
        limited: Option<Limited>,
        grace: Duration,
    ) -> Self {
        Self { command, ending: None, ends, daemon, limited, grace }
    }

    /// Waits for the command's end, an exceeded limit, a stop by the daemon, or the connection's end. Then no
    /// process is left that could be killed.
    pub(super) fn watch(mut self) -> Report {
        let (mut ended, mut exceeded) = (0, None);
        let survivors = loop {
            match self.next(self.limited.as_ref().map(Limited::due)) {
                Event::ChildEnded => {
                    self.reap_all();
                    if self.ending.is_none() {
                        continue;
                    }
                    // Nearly always nothing is left, and reading the process table costs more than everything
                    // else here.
                    if has_children() {
                        let _ = wait_descendants(getpid(), LINGER);
                    }
                    let leftover = self.end();
                    ended = leftover.ended;
                    break leftover.survivors;
                }
                Event::Stop => {
                    let _ = signal_descendants(getpid(), Signal::TERM);
                    self.grace();
                    break self.end().survivors;
                }
                Event::TimeOver => {
                    exceeded = self.limited.as_mut().and_then(Limited::look);
                    if exceeded.is_some() {
                        break self.end().survivors;
                    }
                }
                Event::Abandoned => break self.end().survivors,
            }
        };
        let ending =
            self.ending.unwrap_or_else(|| CommandEnd::NotStarted("nobody knows how it ended".to_owned()));
        Report { ending, ended, survivors, exceeded }
    }

    /// Waits until all processes have ended, the time is over, or the daemon closes the connection.
    fn grace(&mut self) {
        let until = Instant::now() + self.grace;
        loop {
            self.reap_all();
            if !has_children() {
                return;
            }
            match self.next(Some(until)) {
                Event::ChildEnded | Event::Stop if Instant::now() < until => {}
                _ => return,
            }
        }
    }

    /// Waits for the next event until this time.
    fn next(&self, until: Option<Instant>) -> Event {
        let mut sources = [PollFd::new(&self.ends, PollFlags::IN), PollFd::new(self.daemon, PollFlags::IN)];
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let timeout = left.map(|left| Timespec::try_from(left).unwrap_or_default());
            match poll(&mut sources, timeout.as_ref()) {
                Ok(0) => return Event::TimeOver,
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(_) => return Event::Abandoned,
            }
        }
        let [_, daemon] = sources;
        // The daemon's message first: if the command ends at the same moment, the other processes still get
        // time to clean up.
        if !daemon.revents().is_empty() {
            let mut word = [0];
            return match (&*self.daemon).read(&mut word) {
                Ok(1) if word == [STOP] => Event::Stop,
                _ => Event::Abandoned,
            };
        }
        // Limits are checked even if children end all the time.
        if until.is_some_and(|until| Instant::now() >= until) {
            return Event::TimeOver;
        }
        self.ends.drain();
        Event::ChildEnded
    }

    /// Reaps all children that have ended.
    fn reap_all(&mut self) {
        while let Some((pid, status)) = reap() {
            // Only the first time: another child may reuse the process id.
            if pid == self.command && self.ending.is_none() {
                self.ending = Some(ending(status));
            }
        }
    }

    /// Kills all descendants until no child is left that can be killed.
    fn end(&mut self) -> Leftover {
        let mut total = Leftover::default();
        let mut fruitless = 0;
        loop {
            self.reap_all();
            if !has_children() || fruitless == FRUITLESS {
                return total;
            }
            // Killed one by one, processes that only make more would be made as fast as they are killed.
            if getpid().is_init() {
                let _ = kill_process_group(Pid::INIT, Signal::STOP);
            }
            let leftover = end_descendants(getpid(), PATIENCE).unwrap_or_default();
            total = Leftover { ended: total.ended + leftover.ended, survivors: leftover.survivors };
            // A process that is stuck in the kernel is signalled in every round.
            fruitless = if leftover.ended <= leftover.survivors { fruitless + 1 } else { 0 };
        }
    }
}

/// Reaps a child that has ended.
pub(super) fn reap() -> Option<(Pid, WaitStatus)> {
    loop {
        match wait(WaitOptions::NOHANG) {
            Err(Errno::INTR) => {}
            other => return other.ok().flatten(),
        }
    }
}

/// Whether there is a child, ended or not. Reaps none.
fn has_children() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, look), Err(Errno::CHILD))
}

fn ending(status: WaitStatus) -> CommandEnd {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => CommandEnd::Exited(code),
        (None, signal) => CommandEnd::Killed(signal.unwrap_or(0)),
    }
}
