//! Between one process and the next: how a helper comes to be, and what its child is before it becomes the command. (A sandbox will
//! be entered here.)

use rustix::process::{
    Pid, Resource, Rlimit, Signal, getppid, getrlimit, set_parent_process_death_signal, setrlimit, setsid,
};
use std::{fs, io};

/// Open files; programs that need more may raise it to the hard limit.
const OPEN_FILES: u64 = 4096;

/// Forks this process, which must have one thread; `None` in the child.
pub(super) fn fork() -> io::Result<Option<i32>> {
    #[expect(unsafe_code, reason = "there is no safe way to fork")]
    // SAFETY: this process has one thread, so nothing is locked or half-done in the child.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        pid => Ok(Some(pid)),
    }
}

/// Whether children that end leave nothing behind to be waited for. (A child inherits this.)
pub(super) fn forget_children(forget: bool) -> io::Result<()> {
    let action = if forget { libc::SIG_IGN } else { libc::SIG_DFL };
    #[expect(unsafe_code, reason = "there is no safe way to ignore a signal")]
    // SAFETY: neither of the two actions runs any code of this process.
    match unsafe { libc::signal(libc::SIGCHLD, action) } {
        libc::SIG_ERR => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Prepares this process, a child of the helper's.
pub(super) fn prepare(helper: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // If the helper died before that, nobody would ever be told.
    if getppid() != Some(helper) {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    // Its own session: no terminal, and `kill 0` does not reach the helper.
    setsid()?;
    let files = getrlimit(Resource::Nofile);
    let soft = files.maximum.map_or(OPEN_FILES, |hard| hard.min(OPEN_FILES));
    setrlimit(Resource::Nofile, Rlimit { current: Some(soft), maximum: files.maximum })?;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    // When memory runs out, a command goes before the daemon does.
    let _ = fs::write("/proc/self/oom_score_adj", "500");
    Ok(())
}
