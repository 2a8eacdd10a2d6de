//! What this process was given at its start: a listening socket by a service manager, or socket and lock by
//! the daemon before it.

use super::socket::FileId;
use std::{
    ffi::OsStr,
    fs::File,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

/// What was open when this process started, for it.
#[derive(Debug, Default)]
pub struct Inherited {
    pub(super) socket: Option<Given>,
    /// How many more descriptors a service manager gave. They are closed.
    pub(super) unused: usize,
    stayed: Option<Stayed>,
}

/// A listening socket.
#[derive(Debug)]
pub(super) struct Given {
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
        /// The socket's file, if the daemon before knew it.
        file: Option<FileId>,
    },
}

/// Why this program goes on: the one that was to take its place could not be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stayed {
    /// The path of both. This program's file is not there any more.
    pub program: PathBuf,
    pub why: String,
}

impl Inherited {
    /// Whether the daemon before gave it, with all tasks at a boundary.
    #[must_use]
    pub fn is_from_predecessor(&self) -> bool {
        matches!(self.socket, Some(Given { from: Giver::Predecessor { .. }, .. }))
    }

    /// Set if the daemon before was this same program.
    #[must_use]
    pub const fn stayed(&self) -> Option<&Stayed> {
        self.stayed.as_ref()
    }
}

impl Stayed {
    /// The environment variables of [`Self::variables`].
    pub const NAMES: [&str; 2] = ["ABIDE_HANDOVER_PROGRAM", "ABIDE_HANDOVER_ERROR"];

    /// The environment variables that say it to the program that is executed again.
    #[must_use]
    pub fn variables(&self) -> [(&'static str, &OsStr); 2] {
        let [program, why] = Self::NAMES;
        [(program, self.program.as_os_str()), (why, OsStr::new(&self.why))]
    }

    #[cfg(unix)]
    fn from_env() -> Option<Self> {
        let [program, why] = Self::NAMES.map(std::env::var_os);
        Some(Self { program: Path::new(&program?).to_owned(), why: why?.to_string_lossy().into_owned() })
    }
}

/// Names the open descriptors of a predecessor: its pid, its listener, its lock, whether it owned the
/// socket's file, and that file's device and inode.
#[cfg(unix)]
const VARIABLE: &str = "ABIDE_HANDOVER";

#[cfg(unix)]
mod unix {
    use super::{FileId, Given, Giver, Inherited, OwnedFd, Stayed, VARIABLE};
    use crate::instance::Instance;
    use rustix::{
        fd::{AsFd as _, AsRawFd as _, FromRawFd as _, RawFd},
        io::{FdFlags, fcntl_getfd, fcntl_setfd},
        net::{AddressFamily, sockopt},
    };
    use std::{
        env,
        fs::{self, File},
        io, process,
    };

    /// The first descriptor of socket activation.
    const FIRST: RawFd = 3;

    impl Inherited {
        /// What the environment names. All other descriptors but the first three are closed: whoever starts a
        /// daemon may have locked files, or pipes whose readers wait for their end. Call it once, before
        /// anything is opened.
        #[must_use]
        pub fn from_env() -> Self {
            let inherited = Self::named();
            let kept = match &inherited.socket {
                None => [None, None],
                Some(Given { listener, from: Giver::ServiceManager }) => [Some(listener.as_raw_fd()), None],
                Some(Given { listener, from: Giver::Predecessor { lock, .. } }) => {
                    [Some(listener.as_raw_fd()), Some(lock.as_raw_fd())]
                }
            };
            close_others(kept);
            inherited
        }

        fn named() -> Self {
            if let Some(given) = predecessor() {
                return Self { socket: Some(given), unused: 0, stayed: Stayed::from_env() };
            }
            let mut given = service_manager();
            let count = given.len();
            let listener = given.iter().position(is_listener).map(|at| given.swap_remove(at));
            let socket = listener.map(|listener| Given { listener, from: Giver::ServiceManager });
            Self { unused: count - usize::from(socket.is_some()), socket, stayed: None }
        }
    }

    fn predecessor() -> Option<Given> {
        let text = env::var(VARIABLE).ok()?;
        let mut words = text.split(' ');
        let mut number = || words.next()?.parse::<u64>().ok();
        let mut small = || i32::try_from(number()?).ok();
        let (pid, listener, lock, owns_socket) = (small()?, small()?, small()?, small()? == 1);
        let file = number().zip(number()).map(|(device, inode)| FileId { device, inode });
        if !is_us(pid) || listener == lock {
            return None;
        }
        let lock = File::from(take(lock)?);
        let listener = take(listener).filter(is_listener)?;
        Some(Given { listener, from: Giver::Predecessor { lock, owns_socket, file } })
    }

    fn service_manager() -> Vec<OwnedFd> {
        let number = |name| env::var(name).ok()?.parse::<i32>().ok();
        // A child of the process that they were meant for inherits the variables, too.
        let is_ours = number("LISTEN_PID").is_some_and(is_us);
        let count = number("LISTEN_FDS").filter(|_| is_ours).unwrap_or(0);
        // They follow one another; a number that is too high ends at the first that is not open.
        (FIRST..FIRST.saturating_add(count)).map_while(take).collect()
    }

    fn is_us(pid: i32) -> bool {
        u32::try_from(pid) == Ok(process::id())
    }

    fn is_listener(descriptor: &OwnedFd) -> bool {
        sockopt::socket_acceptconn(descriptor).unwrap_or(false)
            && sockopt::socket_domain(descriptor).is_ok_and(|domain| domain == AddressFamily::UNIX)
    }

    /// Takes ownership of a descriptor that the environment names. The daemon's own children do not inherit
    /// it.
    #[expect(unsafe_code, reason = "the only way to own a descriptor that was inherited")]
    fn take(descriptor: RawFd) -> Option<OwnedFd> {
        if descriptor < FIRST {
            return None;
        }
        // SAFETY: the environment names it for this very process, which has opened nothing yet, so nobody
        // else owns it. It is open, or the next line says that it is not and nothing is closed.
        let owned = unsafe { OwnedFd::from_raw_fd(descriptor) };
        if fcntl_getfd(&owned).is_ok() {
            let _ = fcntl_setfd(&owned, FdFlags::CLOEXEC);
            return Some(owned);
        }
        std::mem::forget(owned);
        None
    }

    #[expect(unsafe_code, reason = "there is no safe way to close a descriptor that one did not open")]
    fn close_others(kept: [Option<RawFd>; 2]) {
        let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<RawFd>().ok();
        // All are read before one is closed: the listing has a descriptor of its own, which is closed then.
        let open: Vec<_> =
            fs::read_dir("/dev/fd").into_iter().flatten().flatten().filter_map(number).collect();
        for descriptor in open.into_iter().filter(|fd| *fd >= FIRST && !kept.contains(&Some(*fd))) {
            // SAFETY: this process has opened nothing yet, so nothing of it uses the descriptor. If it is not
            // open, the call fails.
            unsafe { libc::close(descriptor) };
        }
    }

    impl Instance {
        /// Lets socket and lock stay open for the program that this process executes next, and returns the
        /// environment variable that names them. Clients that connect meanwhile wait for that program, and no
        /// other daemon can start.
        ///
        /// # Errors
        /// There is no socket yet, or the descriptors' flags cannot be changed.
        pub fn keep_open(&self) -> io::Result<(&'static str, String)> {
            let bound = self.socket.as_ref().ok_or(io::ErrorKind::NotConnected)?;
            for descriptor in [bound.listener().as_fd(), self.lock.as_fd()] {
                fcntl_setfd(descriptor, FdFlags::empty())?;
            }
            let (listener, lock) = (bound.listener().as_raw_fd(), self.lock.as_raw_fd());
            let mut value = format!("{} {listener} {lock} {}", process::id(), i32::from(bound.is_ours()));
            if let Some(FileId { device, inode }) = bound.file() {
                value.push_str(&format!(" {device} {inode}"));
            }
            Ok((VARIABLE, value))
        }
    }
}

#[cfg(not(unix))]
impl Inherited {
    /// There is no such thing on this system.
    #[must_use]
    pub fn from_env() -> Self {
        Self::default()
    }
}
