//! Ensures one daemon for each home, and a socket that only its user can use.
//!
//! * The lock file in the data folder is held for life; its content (pid, socket, version) leads clients to
//!   the socket.
//! * Only the holder of the lock replaces the socket, and only if no daemon answers there.
//! * A socket that a service manager or the daemon before gives is used as it is, wherever it is (see
//!   [`Inherited`]), as long as its file leads to it.
//! * A peer must be the same user and no descendant of a tool, because a tool must not approve its own calls.

mod folder;
mod inherited;
mod lock;
mod peer;
mod socket;

pub use folder::private_folder;
#[cfg(unix)]
pub use folder::{WayIn, kind, way_in};
pub use inherited::{Inherited, Stayed};
#[cfg(target_os = "linux")]
pub(crate) use peer::parent;
pub use peer::{Refused, descends_from, peer};

use inherited::{Given, Giver};
use interprocess::local_socket::tokio::Listener;
use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

/// Why this process is not the daemon of this home.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    #[error("a daemon is running for this home already{}; `abide daemon status` asks it", running(holder.as_ref()))]
    Running {
        /// Its pid and socket, if it has announced them.
        holder: Option<(u32, PathBuf)>,
    },
    #[error("{} belongs to another user; choose a folder of your own with ABIDE_HOME", path.display())]
    NotOurs { path: PathBuf },
    #[error("{} is {found}, not {wanted}; move it away, or choose another folder with ABIDE_HOME", path.display())]
    WrongKind { path: PathBuf, found: &'static str, wanted: &'static str },
    #[error("others may write to {}, so they could put their own data in place of yours; run `chmod go-w` on it, or choose another folder with ABIDE_HOME", path.display())]
    OpenToOthers { path: PathBuf },
    #[error("another daemon, with another data folder, answers at {}; give this one its own place with ABIDE_HOME", path.display())]
    SocketInUse { path: PathBuf },
    #[error("the socket's path is {length} bytes long and the system takes {max}: {}; choose a shorter one with ABIDE_HOME", path.display())]
    PathTooLong { path: PathBuf, length: usize, max: usize },
    #[error("{} was replaced while the daemon started; start it again", path.display())]
    Replaced { path: PathBuf },
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("the daemon does not run on this system yet: its files could not be kept from other users")]
    Unsupported,
}

fn running(holder: Option<&(u32, PathBuf)>) -> String {
    holder.map(|(pid, socket)| format!(" (pid {pid}, at {})", socket.display())).unwrap_or_default()
}

impl InstanceError {
    /// What makes room for a command that needs the home for itself, to be appended to the error.
    pub(crate) const fn advice(&self) -> &'static str {
        match self {
            Self::Running { .. } => "; stop it first: abide daemon stop",
            _ => "",
        }
    }

    fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }
}

/// Holds this home's lock: this process is its daemon.
#[derive(Debug)]
pub struct Instance {
    lock: File,
    lock_path: PathBuf,
    /// A listening socket that was inherited, until [`Self::listen`] uses it.
    inherited: Option<socket::Open>,
    socket: Option<socket::Bound>,
}

/// Whose the file of a listening socket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// Ours: it is removed at the end.
    Daemon,
    /// A service manager's, which goes on listening when this process has ended.
    ServiceManager,
}

impl Instance {
    /// Takes the lock.
    ///
    /// # Errors
    /// Another daemon holds it, or the file cannot be used.
    pub fn take(lock_path: impl Into<PathBuf>) -> Result<Self, InstanceError> {
        Self::inherit(lock_path, Inherited::default())
    }

    /// The same with what this process was given. The daemon before hands its lock over with its socket; for
    /// a service manager's socket, a daemon that runs without one is asked to end.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn inherit(lock_path: impl Into<PathBuf>, inherited: Inherited) -> Result<Self, InstanceError> {
        let lock_path = lock_path.into();
        if inherited.unused > 0 {
            tracing::warn!(
                closed = inherited.unused,
                has_socket = inherited.socket.is_some(),
                "the service manager gave descriptors that are not used: the daemon listens at one Unix socket. They are closed"
            );
        }
        let (lock, inherited) = match inherited.socket {
            None => (lock::take(&lock_path)?, None),
            Some(Given { listener, from: Giver::ServiceManager }) => {
                let open = socket::Open { listener, owner: Owner::ServiceManager, file: None };
                (lock::take_over(&lock_path)?, Some(open))
            }
            Some(Given { listener, from: Giver::Predecessor { lock, owns_socket, file } }) => {
                let owner = if owns_socket { Owner::Daemon } else { Owner::ServiceManager };
                (lock::keep(lock, &lock_path)?, Some(socket::Open { listener, owner, file }))
            }
        };
        Ok(Self { lock, lock_path, inherited, socket: None })
    }

    /// Opens the socket, replacing a dead daemon's, or uses the inherited one, and announces it in the lock
    /// file. Needs a tokio runtime.
    ///
    /// # Errors
    /// The path has something other than a dead daemon's socket, or cannot be bound.
    pub fn listen(&mut self, socket: impl Into<PathBuf>, version: &str) -> Result<Listener, InstanceError> {
        let (listener, bound) = match self.inherited.take() {
            None => socket::bind(socket.into())?,
            Some(open) => socket::adopt(open, socket.into())?,
        };
        lock::announce(&self.lock, &self.lock_path, bound.path(), version)?;
        self.socket = Some(bound);
        Ok(listener)
    }

    /// Where this daemon listens; `None` before [`Self::listen`].
    #[must_use]
    pub fn socket(&self) -> Option<&Path> {
        self.socket.as_ref().map(socket::Bound::path)
    }
}

impl Drop for Instance {
    /// The lock is still held, so no other daemon can have bound its socket there.
    fn drop(&mut self) {
        if let Some(bound) = self.socket.take() {
            bound.remove();
            lock::withdraw(&self.lock);
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
