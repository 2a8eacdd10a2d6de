use super::{InstanceError, Owner};
use interprocess::local_socket::tokio::Listener;
use std::{
    os::fd::{AsFd as _, OwnedFd},
    path::{Path, PathBuf},
};

/// A listening socket that was open when this process started.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) listener: OwnedFd,
    pub(super) owner: Owner,
    /// The file that led to it when it was last looked at; `None`: not known.
    pub(super) file: Option<FileId>,
}

/// One file, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId {
    pub(super) device: u64,
    pub(super) inode: u64,
}

impl FileId {
    /// `None`: nothing is there, or it cannot be looked at.
    fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let found = std::fs::symlink_metadata(path).ok()?;
        Some(Self { device: found.dev(), inode: found.ino() })
    }
}

/// The listening socket, and its file.
#[derive(Debug)]
pub(super) struct Bound {
    /// For a program that this process executes.
    listener: OwnedFd,
    owner: Owner,
    path: PathBuf,
    file: Option<FileId>,
}

impl Bound {
    fn of(
        listener: &Listener,
        owner: Owner,
        path: PathBuf,
        file: Option<FileId>,
    ) -> Result<Self, InstanceError> {
        let Listener::UdSocket(socket) = listener;
        let copy = socket.as_fd().try_clone_to_owned();
        let listener = copy.map_err(InstanceError::io("listen at", &path))?;
        Ok(Self { listener, owner, path, file })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) const fn listener(&self) -> &OwnedFd {
        &self.listener
    }

    pub(super) const fn file(&self) -> Option<FileId> {
        self.file
    }

    /// Whether the file is ours to remove.
    pub(super) fn is_ours(&self) -> bool {
        self.owner == Owner::Daemon
    }
}

// interprocess's options for the file's lifetime are off. `try_overwrite` would replace a live daemon's
// socket (one with another data folder but the same runtime folder holds another lock). `reclaim_name` would
// remove whatever is at the path when the listener is dropped, perhaps after the lock is free and the next
// daemon has bound. So the lock's holder checks, removes and binds itself, and removes its own inode before
// it releases the lock.
#[cfg(unix)]
pub(super) fn bind(path: PathBuf) -> Result<(Listener, Bound), InstanceError> {
    use interprocess::{
        local_socket::{GenericFilePath, ListenerOptions, ToFsName as _},
        os::unix::local_socket::ListenerOptionsExt as _,
    };
    use std::io::ErrorKind;

    fits(&path)?;
    clear(&path)?;
    let options = || -> std::io::Result<_> {
        let name = path.as_path().to_fs_name::<GenericFilePath>()?;
        Ok(ListenerOptions::new().name(name).try_overwrite(false).reclaim_name(false))
    };
    let bound = match options().and_then(|o| o.mode(0o600).create_tokio()) {
        // Where a socket's mode cannot be set, the folder's mode (0700) protects it.
        Err(e) if e.kind() == ErrorKind::Unsupported => options().and_then(ListenerOptions::create_tokio),
        other => other,
    };
    let listener = bound.map_err(InstanceError::io("listen at", &path))?;
    let file = FileId::of(&path);
    let bound = Bound::of(&listener, Owner::Daemon, path, file)?;
    Ok((listener, bound))
}

/// Uses a socket that is open already. If its file is gone, or another one is in its place, clients do not
/// reach it: then one is bound at `expected`. If that is not possible, because another process listens there,
/// say, it is used all the same, since the tasks shall go on.
#[cfg(unix)]
pub(super) fn adopt(open: Open, expected: PathBuf) -> Result<(Listener, Bound), InstanceError> {
    use interprocess::os::unix::uds_local_socket::tokio as uds;

    let Open { listener, owner, file } = open;
    let listener = std::os::unix::net::UnixListener::from(listener);
    let address = listener.local_addr().ok();
    let path = address
        .and_then(|address| address.as_pathname().map(Path::to_path_buf))
        .unwrap_or_else(|| expected.clone());
    let found = FileId::of(&path);
    let leads_here = found.is_some() && (file.is_none() || file == found);
    if !leads_here {
        match bind(expected) {
            Ok(bound) => {
                tracing::warn!(socket = %path.display(), "the socket's file was removed or replaced; the daemon listens at a new one");
                return Ok(bound);
            }
            Err(error) => tracing::error!(
                socket = %path.display(),
                "the socket's file was removed or replaced, so no client reaches this daemon, and no new one can be made: {error}"
            ),
        }
    }
    let adopted =
        listener.set_nonblocking(true).and_then(|()| uds::Listener::try_from(OwnedFd::from(listener)));
    let listener = Listener::from(adopted.map_err(InstanceError::io("listen at", &path))?);
    let bound = Bound::of(&listener, owner, path, file.or(found))?;
    Ok((listener, bound))
}

#[cfg(not(unix))]
pub(super) fn bind(_: PathBuf) -> Result<(Listener, Bound), InstanceError> {
    Err(InstanceError::Unsupported)
}

/// The longest path of a socket, in bytes, without the final zero.
#[cfg(any(target_os = "linux", target_os = "android"))]
const MAX_PATH: usize = 107;
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
const MAX_PATH: usize = 103;

#[cfg(unix)]
fn fits(path: &Path) -> Result<(), InstanceError> {
    let length = path.as_os_str().len();
    if length > MAX_PATH {
        return Err(InstanceError::PathTooLong { path: path.to_owned(), length, max: MAX_PATH });
    }
    Ok(())
}

/// Removes a dead daemon's socket; anything else at the path is an error.
#[cfg(unix)]
fn clear(path: &Path) -> Result<(), InstanceError> {
    use super::folder::{kind, our_uid};
    use std::{
        fs,
        io::ErrorKind,
        os::unix::fs::{FileTypeExt as _, MetadataExt as _},
    };

    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(InstanceError::io("look at", path)(e)),
    };
    if !found.file_type().is_socket() {
        return Err(InstanceError::WrongKind {
            path: path.to_owned(),
            found: kind(&found),
            wanted: "a socket",
        });
    }
    if found.uid() != our_uid() {
        return Err(InstanceError::NotOurs { path: path.to_owned() });
    }
    if answers(path).map_err(InstanceError::io("connect to", path))? {
        return Err(InstanceError::SocketInUse { path: path.to_owned() });
    }
    fs::remove_file(path).map_err(InstanceError::io("remove the stale socket", path))
}

/// Whether a process listens there. Never waits: a daemon with a full queue counts as listening.
#[cfg(unix)]
fn answers(path: &Path) -> std::io::Result<bool> {
    use rustix::{
        io::Errno,
        net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with},
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match connect(&socket, &SocketAddrUnix::new(path)?) {
        Ok(()) | Err(Errno::AGAIN) => Ok(true),
        Err(Errno::CONNREFUSED | Errno::NOENT) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

impl Bound {
    /// Removes the file if it is ours, and still the one that was bound.
    pub(super) fn remove(self) {
        if !self.is_ours() || self.file.is_none() || FileId::of(&self.path) != self.file {
            return;
        }
        if let Err(e) = std::fs::remove_file(&self.path) {
            tracing::debug!(error = %e, "the socket's file could not be removed");
        }
    }
}
