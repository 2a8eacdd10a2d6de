//! Ensures one daemon for each home, and a socket that only its user can use.
//!
//! * The lock file in the data folder is held for life; its content (pid, socket, version) leads clients to the socket.
//! * Only the holder of the lock replaces the socket, and only if no daemon answers there.
//! * A peer must be the same user and no descendant of a tool, because a tool must not approve its own calls.

mod folder;
mod lock;
mod peer;
mod socket;

pub use folder::private_folder;
pub use peer::{Refused, descends_from, peer};

use interprocess::local_socket::tokio::Listener;
use std::{fs::File, io, path::PathBuf};

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
    socket: Option<socket::Bound>,
}

impl Instance {
    /// Takes the lock.
    ///
    /// # Errors
    /// Another daemon holds it, or the file cannot be used.
    pub fn take(lock_path: impl Into<PathBuf>) -> Result<Self, InstanceError> {
        let lock_path = lock_path.into();
        let lock = lock::take(&lock_path)?;
        Ok(Self { lock, lock_path, socket: None })
    }

    /// Opens the socket, replacing a dead daemon's, and announces it in the lock file. Needs a tokio runtime.
    ///
    /// # Errors
    /// The path has something other than a dead daemon's socket, or cannot be bound.
    pub fn listen(&mut self, socket: impl Into<PathBuf>, version: &str) -> Result<Listener, InstanceError> {
        let (listener, bound) = socket::bind(socket.into())?;
        lock::announce(&self.lock, &self.lock_path, bound.path(), version)?;
        self.socket = Some(bound);
        Ok(listener)
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
