//! The identity of a file or folder, so that another one in its place is noticed.

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use std::{
    path::Path,
    time::{Duration, SystemTime},
};

/// The identity includes the time of birth, because a file system reuses inode numbers. Where no time of
/// birth is kept, it includes the time of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    device: (u32, u32),
    inode: u64,
    since: (i64, u32),
}

impl Identity {
    /// The identity of the file at a path; a link is not followed. `None`: nothing can be found there.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let wanted = StatxFlags::INO | StatxFlags::BTIME | StatxFlags::CTIME;
        let there = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted).ok()?;
        let has_birth = there.stx_mask & StatxFlags::BTIME.bits() != 0;
        let since = if has_birth { there.stx_btime } else { there.stx_ctime };
        Some(Self {
            device: (there.stx_dev_major, there.stx_dev_minor),
            inode: there.stx_ino,
            since: (since.tv_sec, since.tv_nsec),
        })
    }

    /// When the file was made; where no time of birth is kept, when it was last changed.
    pub(crate) fn since(&self) -> SystemTime {
        let (seconds, nanos) = self.since;
        SystemTime::UNIX_EPOCH + Duration::new(seconds.unsigned_abs(), nanos)
    }
}
