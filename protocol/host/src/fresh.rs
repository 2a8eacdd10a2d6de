//! A fresh start: what daemon and window do not keep of the process that starts them. They live on when it
//! has ended, and the daemon's commands inherit what it has.
//!
//! All of it may run between fork and exec: system calls only, no allocation, no lock.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::{io, mem::MaybeUninit, process::Command, ptr};

/// How many files may be open, if the hard limit allows it: each connection is one, and each window opens
/// some.
const OPEN_FILES: u64 = 4096;

/// The signals that can be ignored are below this number.
const SIGNALS: i32 = 65;

/// No signal is blocked, and enough files can be open. Signals that are ignored stay so: who starts the
/// daemon with `nohup` means it.
pub fn restore() {
    unblock();
    let files = getrlimit(Resource::Nofile);
    let wanted = files.maximum.map_or(OPEN_FILES, |hard| hard.min(OPEN_FILES));
    if files.current.is_some_and(|soft| soft < wanted) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..files });
    }
}

#[expect(unsafe_code, reason = "there is no safe way to change the mask of signals")]
fn unblock() {
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the first call makes the set that the second reads, and the old one is not asked for.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
}

/// [`restore`], and what others than a client may have set on purpose. No signal is ignored, the umask is
/// 022, the nice value 0, and all descriptors but the first three are closed at exec. (Only root can lower a
/// nice value; it stays otherwise.)
fn restore_all() {
    restore();
    (1..SIGNALS).for_each(unignore);
    let _ = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    let _ = rustix::process::setpriority_process(None, 0);
    close_at_exec();
}

#[expect(unsafe_code, reason = "there is no safe way to change what a signal does")]
fn unignore(signal: i32) {
    // SAFETY: the default effect calls no code of this process. A number that is no signal's, or a reserved
    // one's, changes nothing.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

#[expect(unsafe_code, reason = "there is no safe way to name a descriptor that one did not open")]
fn close_at_exec() {
    const FIRST: i32 = 3;
    #[cfg(target_os = "linux")]
    // SAFETY: the call reads and writes no memory of this process, and closes nothing of it.
    if unsafe { libc::syscall(libc::SYS_close_range, FIRST, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) } == 0 {
        return;
    }
    // An older kernel, or another system.
    let end = getrlimit(Resource::Nofile).current.and_then(|soft| i32::try_from(soft).ok());
    for descriptor in FIRST..end.unwrap_or(i32::MAX).min(65_536) {
        // SAFETY: as above. One that is not open is an error, which changes nothing.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

/// The program begins a session of its own, and keeps nothing else of this process: see [`restore_all`].
#[expect(unsafe_code, reason = "std has no other way to a new session; setsid(2) is async-signal-safe")]
pub(crate) fn new_session(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: between fork and exec there are only system calls: no allocation, no lock, nothing of this
    // process is touched.
    unsafe {
        command.pre_exec(|| {
            restore_all();
            rustix::process::setsid().map(drop).map_err(io::Error::from)
        });
    }
}
