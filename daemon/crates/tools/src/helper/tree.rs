use super::{CommandEnd, Report, STOP, stage::ChildEnds};
use crate::process::{Leftover, end_descendants, signal_descendants, wait_descendants};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, getpid, wait, waitid},
};
use std::{
    io::Read as _,
    os::unix::net::UnixStream,
    time::{Duration, Instant},
};

/// What is asked to end has this long to clean up.
const GRACE: Duration = Duration::from_millis(300);

/// What a command leaves behind has this long to end by itself: the `tee` that writes down its last words, say.
const LINGER: Duration = Duration::from_millis(100);

/// How long a killed process may take to go.
const PATIENCE: Duration = Duration::from_secs(5);

/// So often in a row nothing is found that can be killed, before it is given up: a child may slip through one look at the process
/// table by being born while its parent dies, but then it is ours, and the next look finds it.
const FRUITLESS: u32 = 10;

/// The command and all that comes of it. Everything here descends from this process, or will be adopted by it.
pub(super) struct Tree<'a> {
    command: Pid,
    /// How the command itself ended, once it has.
    ending: Option<CommandEnd>,
    ends: ChildEnds,
    daemon: &'a UnixStream,
}

/// What happens while a tree lives.
enum Event {
    ChildEnded,
    /// The daemon wants it to end.
    Stop,
    /// The daemon has gone.
    Abandoned,
    TimeOver,
}

impl<'a> Tree<'a> {
    pub(super) const fn new(command: Pid, ends: ChildEnds, daemon: &'a UnixStream) -> Self {
        Self { command, ending: None, ends, daemon }
    }

    /// Waits for the command, or for the daemon's word or end; when this returns, nothing is left that could be ended.
    pub(super) fn watch(mut self) -> Report {
        let mut ended = 0;
        let survivors = loop {
            match self.next(None) {
                Event::ChildEnded => {
                    self.take_note();
                    if self.ending.is_none() {
                        continue;
                    }
                    // Nearly always nothing is left, and looking through all processes costs more than all else here.
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
                Event::Abandoned | Event::TimeOver => break self.end().survivors,
            }
        };
        let ending =
            self.ending.unwrap_or_else(|| CommandEnd::NotStarted("nobody knows how it ended".to_owned()));
        Report { ending, ended, survivors }
    }

    /// Until all is gone, or it has taken long enough, or the daemon goes away.
    fn grace(&mut self) {
        let until = Instant::now() + GRACE;
        loop {
            self.take_note();
            if !has_children() {
                return;
            }
            match self.next(Some(until)) {
                Event::ChildEnded | Event::Stop if Instant::now() < until => {}
                _ => return,
            }
        }
    }

    /// Waits for what happens next, for as long as that.
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
        // First: what is left of a command that ends at the same moment is to have its grace.
        if !daemon.revents().is_empty() {
            let mut word = [0];
            return match (&*self.daemon).read(&mut word) {
                Ok(1) if word == [STOP] => Event::Stop,
                _ => Event::Abandoned,
            };
        }
        self.ends.hear();
        Event::ChildEnded
    }

    /// Of all children that have ended.
    fn take_note(&mut self) {
        while let Some((pid, status)) = reap() {
            // Only once: its process id may be given to another that ends here.
            if pid == self.command && self.ending.is_none() {
                self.ending = Some(ending(status));
            }
        }
    }

    /// Kills everything until there is no child, or nothing left that can be killed.
    fn end(&mut self) -> Leftover {
        let mut total = Leftover::default();
        let mut fruitless = 0;
        loop {
            self.take_note();
            if !has_children() || fruitless == FRUITLESS {
                return total;
            }
            let leftover = end_descendants(getpid(), PATIENCE).unwrap_or_default();
            total = Leftover { ended: total.ended + leftover.ended, survivors: leftover.survivors };
            // One that is stuck in the kernel is killed in every round.
            fruitless = if leftover.ended <= leftover.survivors { fruitless + 1 } else { 0 };
        }
    }
}

/// The next child that has ended.
fn reap() -> Option<(Pid, WaitStatus)> {
    loop {
        match wait(WaitOptions::NOHANG) {
            Err(Errno::INTR) => {}
            other => return other.ok().flatten(),
        }
    }
}

/// Whether there is a child, ended or not. Takes no note of it.
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
