use super::{Ending, Report, STOP};
use crate::process::{Leftover, end_descendants, signal_descendants, wait_descendants};
use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, getpid, wait, waitid},
};
use std::{
    io::{BufReader, Read as _},
    os::unix::net::UnixStream,
    process::Child,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
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
#[derive(Clone)]
pub(super) struct Tree {
    command: Pid,
    /// The daemon wants it to end: what is left of the tree keeps its grace when the command is gone.
    stopping: Arc<AtomicBool>,
}

impl Tree {
    pub(super) fn of(child: &Child) -> Self {
        Self { command: Pid::from_child(child), stopping: Arc::default() }
    }

    /// Waits for the command, then ends what it left behind. The only place that waits for children.
    pub(super) fn wait(&self) -> Report {
        let mut report = Report::of(Ending::NotStarted("nobody knows how it ended".to_owned()));
        while let Some((pid, status)) = reap(WaitOptions::empty()) {
            if pid == self.command {
                report.ending = ending(status);
                break;
            }
        }
        if self.stopping.load(Ordering::Acquire) {
            // The watching thread ends what is left when its grace is over.
            while reap(WaitOptions::empty()).is_some() {}
            return report;
        }
        // Nearly always nothing is left, and looking through all processes costs more than all else here.
        if has_children() {
            let _ = wait_descendants(getpid(), LINGER);
        }
        let leftover = self.end();
        Report { ended: leftover.ended, survivors: leftover.survivors, ..report }
    }

    /// Ends everything, and takes note of it.
    pub(super) fn end(&self) -> Leftover {
        end_all(|| while reap(WaitOptions::NOHANG).is_some() {})
    }

    /// Waits for the daemon's word, or for its end.
    pub(super) fn watch(&self, mut daemon: BufReader<UnixStream>) {
        let mut word = [0];
        if matches!(daemon.read(&mut word), Ok(1)) && word[0] == STOP {
            self.stopping.store(true, Ordering::Release);
            let _ = signal_descendants(getpid(), Signal::TERM);
            // Ends early if the daemon goes away; the process ends early if all is gone.
            let _ = daemon.get_ref().set_read_timeout(Some(GRACE));
            let _ = daemon.read(&mut word);
        }
        // The main thread takes note of who ends; when no child is left, the process is done.
        end_all(|| ());
    }
}

/// Kills everything until there is no child, or nothing left that can be killed.
fn end_all(mut take_note: impl FnMut()) -> Leftover {
    let mut total = Leftover::default();
    let mut fruitless = 0;
    loop {
        take_note();
        if !has_children() || fruitless == FRUITLESS {
            return total;
        }
        let leftover = end_descendants(getpid(), PATIENCE).unwrap_or_default();
        total = Leftover { ended: total.ended + leftover.ended, survivors: leftover.survivors };
        fruitless = if leftover.ended == 0 { fruitless + 1 } else { 0 };
    }
}

/// The next child that has ended; `None` if there are no children (or, if so asked, none that has ended).
fn reap(options: WaitOptions) -> Option<(Pid, WaitStatus)> {
    loop {
        match wait(options) {
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

fn ending(status: WaitStatus) -> Ending {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, signal) => Ending::Killed(signal.unwrap_or(0)),
    }
}
