//! Which file or folder a path names, so that another one in its place is noticed.

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use std::{
    path::Path,
    time::{Duration, SystemTime},
};

/// A file system gives the number of a removed file to a new one, so the time of birth belongs to it; and the time of change where the
/// file system keeps no time of birth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    device: (u32, u32),
    inode: u64,
    since: (i64, u32),
}

impl Identity {
    /// That of what is at a path; a link is not followed. `None`: nothing can be found there.
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

    /// When it was made; where the file system keeps no time of birth, when it was last changed.
    pub(crate) fn since(&self) -> SystemTime {
        let (seconds, nanos) = self.since;
        SystemTime::UNIX_EPOCH + Duration::new(seconds.unsigned_abs(), nanos)
    }
}
