use super::table;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};
use std::{fs, io, os::fd::OwnedFd, sync::OnceLock};

/// Identifies one process, also after its id is reused, and after a reboot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pid: i32,
    /// Ticks since boot.
    start: u64,
    boot: String,
}

impl Identity {
    /// The process that has this id now.
    pub(crate) fn of(pid: Pid) -> io::Result<Self> {
        let (_, start) = table::stat(pid)?;
        Ok(Self { pid: pid.as_raw_nonzero().get(), start, boot: boot()? })
    }

    /// When the process started, in ticks since boot; `None` if it started before the last boot.
    pub(super) fn started_at(&self) -> Option<u64> {
        boot().ok().filter(|boot| *boot == self.boot).map(|_| self.start)
    }

    /// The process, if it still runs.
    pub(crate) fn open(&self) -> Option<(Pid, OwnedFd)> {
        if boot().ok()? != self.boot {
            return None;
        }
        let pid = Pid::from_raw(self.pid)?;
        Some((pid, open(pid, self.start)?))
    }
}

/// A descriptor of exactly this process.
pub(super) fn open(pid: Pid, start: u64) -> Option<OwnedFd> {
    let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    // The start time is read after opening. An equal start time says that the descriptor is of this process.
    let (_, now) = table::stat(pid).ok()?;
    (now == start).then_some(handle)
}

/// The id of this boot of the system.
fn boot() -> io::Result<String> {
    static BOOT: OnceLock<String> = OnceLock::new();
    if let Some(id) = BOOT.get() {
        return Ok(id.clone());
    }
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
    Ok(BOOT.get_or_init(|| id).clone())
}
