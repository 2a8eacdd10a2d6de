//! Process state that the kernel keeps: forks a helper, reports ended children, and prepares the command's
//! process.

use rustix::{
    fs::{Mode, OFlags, open},
    io::{Errno, write},
    process::{
        Pid, Resource, Rlimit, Signal, getppid, getrlimit, set_parent_process_death_signal, setrlimit, setsid,
    },
};
use std::{
    io,
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, FromRawFd as _, OwnedFd},
    ptr,
};

/// The limit of open files; programs may raise it to the hard limit.
const OPEN_FILES: u64 = 4096;

/// Forks this process, which must have one thread, into new namespaces of these kinds (`CLONE_NEW*`); `None`
/// in the child.
pub(super) fn fork(namespaces: i32) -> io::Result<Option<i32>> {
    let flags = libc::SIGCHLD | namespaces;
    #[expect(unsafe_code, reason = "there is no safe way to fork, and none at all into namespaces")]
    // SAFETY: this process has one thread, so nothing is locked or half-done in the child. Without a stack of
    // its own the child goes on with a copy of this one, as after `fork`.
    match unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        pid => i32::try_from(pid).map(Some).map_err(io::Error::other),
    }
}

/// Restores the default effect of signals that the daemon's parent may have ignored (`nohup`, `trap ''`),
/// here and in commands. With SIGCHLD restored, ended children wait until they are reaped.
pub(super) fn restore_signals() -> io::Result<()> {
    const IGNORABLE: [i32; 10] = [
        libc::SIGCHLD,
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGTERM,
        libc::SIGALRM,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGTSTP,
        libc::SIGXFSZ,
    ];
    IGNORABLE.into_iter().try_for_each(|signal| set_action(signal, libc::SIG_DFL))
}

/// Sets the limits of commands, and of helpers.
pub(super) fn limit() -> io::Result<()> {
    let files = getrlimit(Resource::Nofile);
    let soft = files.maximum.map_or(OPEN_FILES, |hard| hard.min(OPEN_FILES));
    setrlimit(Resource::Nofile, Rlimit { current: Some(soft), maximum: files.maximum })?;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    Ok(())
}

/// A descriptor that becomes readable when a child ends, or has ended since [`Self::drain`] was last called.
pub(super) struct ChildEnds(OwnedFd);

impl ChildEnds {
    pub(super) fn watch() -> io::Result<Self> {
        let signals = signals(Some(libc::SIGCHLD));
        set_mask(&signals)?;
        #[expect(unsafe_code, reason = "there is no safe way to receive signals through a descriptor")]
        // SAFETY: the set is valid for the call, which takes a copy of it.
        let fd = unsafe { libc::signalfd(-1, &raw const signals, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        #[expect(unsafe_code, reason = "see above")]
        // SAFETY: it was opened by the line above, and nobody else knows of it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Reads the pending signals.
    pub(super) fn drain(&self) {
        let _ = rustix::io::read(&self.0, &mut [0; size_of::<libc::signalfd_siginfo>()]);
    }
}

impl AsFd for ChildEnds {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Prepares this process, a child of the helper. Neither allocates nor locks.
pub(super) fn prepare(helper: Pid) -> Result<(), Errno> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // If the helper died before the signal was set, the signal would never come.
    if getppid() != Some(helper) {
        return Err(Errno::SRCH);
    }
    // A session of its own: no terminal, and `kill 0` does not reach the helper.
    setsid()?;
    // When memory runs out, the kernel kills a command before the daemon.
    if let Ok(score) = open(c"/proc/self/oom_score_adj", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()) {
        let _ = write(score, b"500");
    }
    // The default that programs expect.
    let _ = set_action(libc::SIGPIPE, libc::SIG_DFL);
    let _ = set_mask(&signals(None));
    Ok(())
}

fn set_action(signal: i32, action: libc::sighandler_t) -> io::Result<()> {
    #[expect(unsafe_code, reason = "there is no safe way to ignore a signal")]
    // SAFETY: callers pass one of the two actions that run no code of this process.
    match unsafe { libc::signal(signal, action) } {
        libc::SIG_ERR => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// A set of one signal, or of none.
fn signals(one: Option<i32>) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    #[expect(unsafe_code, reason = "there is no safe way to make a set of signals")]
    // SAFETY: the first call makes the set, and the second gets one that is made.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        if let Some(signal) = one {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

fn set_mask(signals: &libc::sigset_t) -> io::Result<()> {
    #[expect(unsafe_code, reason = "there is no safe way to block signals")]
    // SAFETY: the set is valid for the call, and the old one is not asked for.
    match unsafe { libc::sigprocmask(libc::SIG_SETMASK, signals, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
