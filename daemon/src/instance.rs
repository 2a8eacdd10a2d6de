//! Ensures one daemon for each home, and a socket that only its user can use.
//!
//! * The lock file in the data folder is held for life; its content (pid, socket, version) leads clients to the socket.
//! * Only the holder of the lock replaces the socket, and only if no daemon answers there.
//! * A socket that a service manager or the daemon before gives is used as it is, wherever it is: see [`Inherited`].
//! * A peer must be the same user and no descendant of a tool, because a tool must not approve its own calls.

mod folder;
mod inherited;
mod lock;
mod peer;
mod socket;

pub use folder::private_folder;
pub use inherited::{Bequest, Inherited};
pub use peer::{Refused, descends_from, peer};

use inherited::Giver;
use interprocess::local_socket::tokio::Listener;
use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
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
    inherited: Option<(OwnedFd, Owner)>,
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
        let lock_path = lock_path.into();
        let lock = lock::take(&lock_path)?;
        Ok(Self { lock, lock_path, inherited: None, socket: None })
    }

    /// The same with an inherited socket. The daemon before hands its lock over with it; for a service manager, a daemon that runs
    /// without one is asked to end.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn inherit(lock_path: impl Into<PathBuf>, inherited: Inherited) -> Result<Self, InstanceError> {
        let lock_path = lock_path.into();
        let Inherited { listener, from } = inherited;
        let (lock, owner) = match from {
            Giver::ServiceManager => (lock::take_over(&lock_path)?, Owner::ServiceManager),
            Giver::Predecessor { lock, owns_socket } => {
                let owner = if owns_socket { Owner::Daemon } else { Owner::ServiceManager };
                (lock::keep(lock, &lock_path)?, owner)
            }
        };
        Ok(Self { lock, lock_path, inherited: Some((listener, owner)), socket: None })
    }

    /// Opens the socket, replacing a dead daemon's, or uses the inherited one, and announces it in the lock file. Needs a tokio runtime.
    ///
    /// # Errors
    /// The path has something other than a dead daemon's socket, or cannot be bound.
    pub fn listen(&mut self, socket: impl Into<PathBuf>, version: &str) -> Result<Listener, InstanceError> {
        let (listener, bound) = match self.inherited.take() {
            None => socket::bind(socket.into())?,
            Some((listener, Owner::ServiceManager)) => {
                socket::adopt(listener, Owner::ServiceManager, socket.into())?
            }
            Some((listener, Owner::Daemon)) => {
                let socket = socket.into();
                // If the socket's file is gone, clients find the daemon only at a new one.
                socket::adopt(listener, Owner::Daemon, socket.clone()).or_else(|_| socket::bind(socket))?
            }
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

    /// Socket and lock for the program that this process executes next: clients that connect meanwhile wait for it, and no other daemon can
    /// start.
    ///
    /// # Errors
    /// There is no socket yet, or the lock's file cannot be duplicated.
    pub fn hand_over(mut self) -> io::Result<Bequest> {
        let Some(bound) = self.socket.take() else { return Err(io::ErrorKind::NotConnected.into()) };
        let lock = self.lock.try_clone()?;
        let (listener, owner) = bound.into_parts();
        Ok(Bequest { listener, lock, owns_socket: owner == Owner::Daemon })
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
