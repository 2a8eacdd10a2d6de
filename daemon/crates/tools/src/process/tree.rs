use super::{
    Identity, identity,
    table::{self, Process},
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, Signal, getpid, pidfd_send_signal},
};
use std::{
    collections::HashSet,
    io,
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

/// The most descriptors that are held while waiting for killed processes.
const HANDLES: usize = 256;

/// The result of killing processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Leftover {
    /// Processes that still ran and were signalled.
    pub(crate) ended: usize,
    /// Processes that may not be signalled (another user's), or that are stuck in the kernel.
    pub(crate) survivors: usize,
}

impl Leftover {
    fn add(&mut self, more: io::Result<Self>) {
        let more = more.unwrap_or_default();
        self.ended += more.ended;
        self.survivors += more.survivors;
    }
}

/// Signals each descendant of `root` once.
pub(crate) fn signal_descendants(root: Pid, signal: Signal) -> io::Result<()> {
    for process in table::descendants(root)? {
        let _ = Kill::send(process, signal);
    }
    Ok(())
}

/// How long to wait for processes that are to end by themselves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// The time if all processes wait for something.
    pub(crate) idle: Duration,
    /// The time as long as a process works or waits for a processor.
    pub(crate) busy: Duration,
}

/// Waits until all descendants of `root` have ended by themselves.
pub(crate) fn wait_descendants(root: Pid, patience: Patience) -> io::Result<()> {
    let began = Instant::now();
    let mut deadline = began + patience.idle;
    loop {
        let left = table::descendants(root)?;
        for Process { pid, start } in &left {
            if let Some(handle) = identity::open(*pid, *start) {
                wait_gone(&handle, deadline.saturating_duration_since(Instant::now()));
            }
        }
        let is_over = Instant::now() >= began + patience.busy;
        if is_over || !left.iter().any(table::is_busy) {
            return Ok(());
        }
        deadline = Instant::now() + patience.idle;
    }
}

/// Kills all descendants of `root`, also new ones, and waits until they are gone.
pub(crate) fn end_descendants(root: Pid, patience: Duration) -> io::Result<Leftover> {
    end(|| table::descendants(root), patience)
}

/// Ends a call in place of its helper: kills the helper's descendants, the helper, and processes whose
/// parents are gone.
pub(crate) fn end_call(helper: Option<&Identity>, call: &str, patience: Duration) -> Leftover {
    let mut total = Leftover::default();
    if let Some((pid, handle)) = helper.and_then(Identity::open) {
        total.add(end_descendants(pid, patience));
        let _ = pidfd_send_signal(&handle, Signal::KILL);
        wait_gone(&handle, patience);
    }
    // All processes of the call are younger than its helper.
    let since = helper.and_then(Identity::started_at).unwrap_or(0);
    let marked = || {
        let mut found = table::marked(super::MARK, call, since)?;
        found.retain(|process| process.pid != getpid());
        Ok(found)
    };
    total.add(end(marked, patience));
    total
}

fn end(find: impl Fn() -> io::Result<Vec<Process>>, patience: Duration) -> io::Result<Leftover> {
    let deadline = Instant::now() + patience;
    let mut ended = HashSet::new();
    loop {
        let (mut handles, mut survivors) = (Vec::new(), 0);
        for process in find()? {
            match Kill::send(process, Signal::KILL) {
                Kill::Gone => {}
                Kill::Refused => survivors += 1,
                Kill::Sent(handle) => {
                    ended.insert(process);
                    if handles.len() < HANDLES {
                        handles.push(handle);
                    }
                }
            }
        }
        let hopeless = Instant::now() >= deadline;
        if handles.is_empty() || hopeless {
            return Ok(Leftover { ended: ended.len(), survivors: survivors + handles.len() });
        }
        for handle in handles {
            wait_gone(&handle, deadline.saturating_duration_since(Instant::now()));
        }
    }
}

enum Kill {
    Sent(OwnedFd),
    /// The process has ended by itself, perhaps without being reaped.
    Gone,
    Refused,
}

impl Kill {
    fn send(process: Process, signal: Signal) -> Self {
        let Some(handle) = identity::open(process.pid, process.start) else { return Self::Gone };
        if wait_gone(&handle, Duration::ZERO) {
            return Self::Gone;
        }
        match pidfd_send_signal(&handle, signal) {
            Ok(()) => Self::Sent(handle),
            Err(Errno::SRCH) => Self::Gone,
            Err(_) => Self::Refused,
        }
    }
}

/// Waits until the process has ended. Returns whether it has.
pub(crate) fn wait_gone(handle: &OwnedFd, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).unwrap_or_default();
        match poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return false,
            Err(Errno::INTR) => {}
            Ok(_) => return true,
            Err(_) => return false,
        }
    }
}
