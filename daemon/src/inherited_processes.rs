//! Children that this process has from the program before it: a window that it had opened, say. The process
//! executed this program and kept its id, so they are its children still, and stay zombies until it waits for
//! them.

use crate::supervisor::Supervisor;
#[cfg(target_os = "linux")]
use {
    crate::instance::parent,
    rustix::process::{Pid, WaitOptions, waitpid},
    std::fs,
    tokio::signal::unix::{SignalKind, signal},
};

/// Waits for the children that this process has now, so call it before any is started. All others are waited
/// for by those who start them: until then no other process gets their ids, and their exit status is not
/// taken away.
#[cfg(target_os = "linux")]
pub(crate) fn adopt(supervisor: &Supervisor) {
    let mut left = children();
    if left.is_empty() {
        return;
    }
    let mut ends = match signal(SignalKind::child()) {
        Ok(ends) => ends,
        Err(error) => {
            tracing::warn!(?left, "children of the program before will stay in the process table: {error}");
            return;
        }
    };
    let ending = supervisor.clone();
    supervisor.spawn("children", async move {
        loop {
            left.retain(|child| matches!(waitpid(Some(*child), WaitOptions::NOHANG), Ok(None)));
            if left.is_empty() {
                return;
            }
            tokio::select! {
                _ = ends.recv() => {}
                () = ending.ending() => return,
            }
        }
    });
}

#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let us = std::process::id();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let ours = pids.filter(|pid| parent(*pid) == Some(us));
    ours.filter_map(|pid| i32::try_from(pid).ok().and_then(Pid::from_raw)).collect()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn adopt(_: &Supervisor) {}
