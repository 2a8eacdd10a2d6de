use super::{InstanceError, Owner};
use interprocess::local_socket::tokio::Listener;
use std::{
    os::fd::{AsFd as _, OwnedFd},
    path::{Path, PathBuf},
};

/// The listening socket, and its file.
#[derive(Debug)]
pub(super) struct Bound {
    /// For a program that this process executes.
    listener: OwnedFd,
    owner: Owner,
    path: PathBuf,
    /// Device and inode of the file.
    identity: (u64, u64),
}

impl Bound {
    fn of(listener: &Listener, owner: Owner, path: PathBuf) -> Result<Self, InstanceError> {
        use std::os::unix::fs::MetadataExt as _;
        let Listener::UdSocket(socket) = listener;
        let copy = socket.as_fd().try_clone_to_owned();
        let listener = copy.map_err(InstanceError::io("listen at", &path))?;
        let found = std::fs::symlink_metadata(&path).map_err(InstanceError::io("look at", &path))?;
        Ok(Self { listener, owner, identity: (found.dev(), found.ino()), path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn into_parts(self) -> (OwnedFd, Owner) {
        (self.listener, self.owner)
    }
}

// interprocess's options for the file's lifetime are off. `try_overwrite` would replace a live daemon's socket (one with another data
// folder but the same runtime folder holds another lock). `reclaim_name` would remove whatever is at the path when the listener is
// dropped, perhaps after the lock is free and the next daemon has bound. So the lock's holder checks, removes and binds itself, and
// removes its own inode before it releases the lock.
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
    let bound = Bound::of(&listener, Owner::Daemon, path)?;
    Ok((listener, bound))
}

/// Uses a socket that is open already. `expected` is where it is if its own address cannot be read.
#[cfg(unix)]
pub(super) fn adopt(
    listener: OwnedFd,
    owner: Owner,
    expected: PathBuf,
) -> Result<(Listener, Bound), InstanceError> {
    use interprocess::os::unix::uds_local_socket::tokio as uds;

    let listener = std::os::unix::net::UnixListener::from(listener);
    let address = listener.local_addr().ok();
    let path = address.and_then(|address| address.as_pathname().map(Path::to_path_buf)).unwrap_or(expected);
    let adopted =
        listener.set_nonblocking(true).and_then(|()| uds::Listener::try_from(OwnedFd::from(listener)));
    let listener = Listener::from(adopted.map_err(InstanceError::io("listen at", &path))?);
    let bound = Bound::of(&listener, owner, path)?;
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
        if self.owner != Owner::Daemon {
            return;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let ours = std::fs::symlink_metadata(&self.path)
                .is_ok_and(|found| (found.dev(), found.ino()) == self.identity);
            if ours && let Err(e) = std::fs::remove_file(&self.path) {
                tracing::debug!(error = %e, "the socket's file could not be removed");
            }
        }
    }
}
