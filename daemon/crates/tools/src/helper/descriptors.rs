use rustix::io::{FdFlags, fcntl_setfd};
use std::{fs, io, os::fd::BorrowedFd};

/// Closes all descriptors but stdin, stdout and stderr: some may be inherited from the daemon's own parent.
pub(super) fn keep_only_standard() -> io::Result<()> {
    let mut open = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        open.extend(entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    for fd in open.into_iter().filter(|fd| *fd > 2) {
        #[expect(unsafe_code, reason = "there is no safe way to name a descriptor that one did not open")]
        // SAFETY: `fd` is not negative, and it is borrowed for this one call, which touches no memory and
        // closes nothing. If it is not open any more (the listing's own is not), the call fails with EBADF.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) };
        let _ = fcntl_setfd(fd, FdFlags::CLOEXEC);
    }
    Ok(())
}
