//! What this process was given at its start: a listening socket by a service manager, or socket and lock by the daemon before it.

use std::{fs::File, os::fd::OwnedFd};

/// A listening socket that was open when this process started.
#[derive(Debug)]
pub struct Inherited {
    pub(super) listener: OwnedFd,
    pub(super) from: Giver,
}

/// Who gave it.
#[derive(Debug)]
pub(super) enum Giver {
    /// systemd's socket activation, sd_listen_fds(3). The socket's file is the service manager's.
    ServiceManager,
    /// The daemon before, which this process was until it executed another program.
    Predecessor {
        /// Still locked.
        lock: File,
        /// The socket's file is ours to remove.
        owns_socket: bool,
    },
}

impl Inherited {
    /// Whether the daemon before gave it, with all tasks at a boundary.
    #[must_use]
    pub const fn is_from_predecessor(&self) -> bool {
        matches!(self.from, Giver::Predecessor { .. })
    }
}

/// What this process leaves to the program that it executes.
#[derive(Debug)]
pub struct Bequest {
    pub(super) listener: OwnedFd,
    pub(super) lock: File,
    pub(super) owns_socket: bool,
}

/// Names the open descriptors of a predecessor: its pid, its listener, its lock, and whether it owned the socket's file.
const VARIABLE: &str = "ABIDE_HANDOVER";

#[cfg(unix)]
mod unix {
    use super::{Bequest, File, Giver, Inherited, OwnedFd, VARIABLE};
    use rustix::{
        fd::{AsFd, AsRawFd as _, FromRawFd as _, RawFd},
        io::{FdFlags, fcntl_getfd, fcntl_setfd},
        net::{AddressFamily, sockopt},
    };
    use std::{env, io, process};

    /// The first descriptor of socket activation.
    const FIRST: RawFd = 3;

    impl Inherited {
        /// What the environment names. `None`: nothing, or nothing usable. Call it once, before anything is opened.
        #[must_use]
        pub fn from_env() -> Option<Self> {
            let (listener, from) = predecessor().or_else(service_manager)?;
            // The daemon's own children must not inherit them.
            let _ = fcntl_setfd(&listener, FdFlags::CLOEXEC);
            let is_listener = sockopt::socket_acceptconn(&listener).unwrap_or(false)
                && sockopt::socket_domain(&listener).is_ok_and(|domain| domain == AddressFamily::UNIX);
            is_listener.then_some(Self { listener, from })
        }
    }

    fn predecessor() -> Option<(OwnedFd, Giver)> {
        let text = env::var(VARIABLE).ok()?;
        let mut words = text.split(' ');
        let mut number = || words.next()?.parse::<i32>().ok();
        let (pid, listener, lock, owns_socket) = (number()?, number()?, number()?, number()? == 1);
        if !is_us(pid) || listener == lock {
            return None;
        }
        let lock = take(lock)?;
        let _ = fcntl_setfd(&lock, FdFlags::CLOEXEC);
        Some((take(listener)?, Giver::Predecessor { lock: File::from(lock), owns_socket }))
    }

    fn service_manager() -> Option<(OwnedFd, Giver)> {
        let number = |name| env::var(name).ok()?.parse::<i32>().ok();
        // A child of the process that they were meant for inherits the variables, too.
        (is_us(number("LISTEN_PID")?) && number("LISTEN_FDS")? >= 1)
            .then(|| take(FIRST))
            .flatten()
            .map(|listener| (listener, Giver::ServiceManager))
    }

    fn is_us(pid: i32) -> bool {
        u32::try_from(pid) == Ok(process::id())
    }

    /// Takes ownership of a descriptor that the environment names.
    #[expect(unsafe_code, reason = "the only way to own a descriptor that was inherited")]
    fn take(descriptor: RawFd) -> Option<OwnedFd> {
        if descriptor < FIRST {
            return None;
        }
        // SAFETY: the environment names it for this very process, which has opened nothing yet, so nobody else owns it. It is open, or
        // the next line says that it is not and nothing is closed.
        let owned = unsafe { OwnedFd::from_raw_fd(descriptor) };
        if fcntl_getfd(&owned).is_ok() {
            return Some(owned);
        }
        std::mem::forget(owned);
        None
    }

    impl Bequest {
        /// Lets both stay open over an execution, and returns the environment variable that names them.
        ///
        /// # Errors
        /// The descriptors' flags cannot be changed.
        pub fn keep_open(&self) -> io::Result<(&'static str, String)> {
            for descriptor in [self.listener.as_fd(), self.lock.as_fd()] {
                fcntl_setfd(descriptor, FdFlags::empty())?;
            }
            let (listener, lock) = (self.listener.as_raw_fd(), self.lock.as_raw_fd());
            Ok((VARIABLE, format!("{} {listener} {lock} {}", process::id(), i32::from(self.owns_socket))))
        }
    }
}

#[cfg(not(unix))]
impl Inherited {
    /// There is no such thing on this system.
    #[must_use]
    pub const fn from_env() -> Option<Self> {
        None
    }
}
