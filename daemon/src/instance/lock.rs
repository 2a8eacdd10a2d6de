//! The lock file. It is never removed: a lock on a removed file would exclude no other process.

use super::InstanceError;
use abide_host::home::Running;
use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read as _, Seek as _, Write as _},
    path::Path,
    time::{Duration, Instant},
};

/// The most bytes that are read.
const MAX_BYTES: u64 = 16 * 1024;

pub(super) fn take(path: &Path) -> Result<File, InstanceError> {
    take_within(path, open(path)?, PATIENCE)
}

/// Takes the lock. A daemon that holds it is asked to end first, and gets the time that it needs to come to a
/// boundary.
#[cfg(unix)]
pub(super) fn take_over(path: &Path) -> Result<File, InstanceError> {
    use rustix::process::{Pid, Signal, kill_process};

    let file = open(path)?;
    if lock(&file, PATIENCE).map_err(InstanceError::io("lock", path))? {
        return take_within(path, file, PATIENCE);
    }
    let pid = holder(&file).and_then(|holder| Pid::from_raw(i32::try_from(holder.pid).ok()?));
    if let Some(pid) = pid {
        tracing::info!(%pid, "another daemon runs for this home; it is asked to end, and this one goes on");
        // If it cannot be asked, it is waited for all the same.
        let _ = kill_process(pid, Signal::TERM);
    }
    take_within(path, file, HANDOVER)
}

#[cfg(not(unix))]
pub(super) fn take_over(path: &Path) -> Result<File, InstanceError> {
    take(path)
}

/// The lock that the daemon before held, whose file is still open.
pub(super) fn keep(file: File, path: &Path) -> Result<File, InstanceError> {
    take_within(path, file, PATIENCE)
}

fn take_within(path: &Path, file: File, patience: Duration) -> Result<File, InstanceError> {
    if !lock(&file, patience).map_err(InstanceError::io("lock", path))? {
        let holder = holder(&file).map(|said| (said.pid, said.socket));
        return Err(InstanceError::Running { holder });
    }
    check_not_replaced(&file, path)?;
    // Removes a dead daemon's announcement.
    file.set_len(0).map_err(InstanceError::io("write", path))?;
    Ok(file)
}

#[cfg(unix)]
fn open(path: &Path) -> Result<File, InstanceError> {
    use super::folder::{kind, our_uid};
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};

    // NONBLOCK: opening a fifo must not wait for a writer.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(source) => {
            let found = std::fs::symlink_metadata(path).map(|m| kind(&m)).unwrap_or("a file");
            return Err(if found == "a file" {
                InstanceError::io("open", path)(source)
            } else {
                InstanceError::WrongKind { path: path.to_owned(), found, wanted: "a file" }
            });
        }
    };
    let found = file.metadata().map_err(InstanceError::io("look at", path))?;
    if !found.is_file() {
        let found = kind(&found);
        return Err(InstanceError::WrongKind { path: path.to_owned(), found, wanted: "a file" });
    }
    if found.uid() != our_uid() {
        return Err(InstanceError::NotOurs { path: path.to_owned() });
    }
    Ok(file)
}

#[cfg(not(unix))]
fn open(_: &Path) -> Result<File, InstanceError> {
    Err(InstanceError::Unsupported)
}

/// Checks that the path still leads to the locked file.
#[cfg(unix)]
fn check_not_replaced(file: &File, path: &Path) -> Result<(), InstanceError> {
    use std::os::unix::fs::MetadataExt as _;
    let held = file.metadata().map_err(InstanceError::io("look at", path))?;
    match std::fs::symlink_metadata(path) {
        Ok(named) if (named.dev(), named.ino()) == (held.dev(), held.ino()) => Ok(()),
        _ => Err(InstanceError::Replaced { path: path.to_owned() }),
    }
}

#[cfg(not(unix))]
fn check_not_replaced(_: &File, _: &Path) -> Result<(), InstanceError> {
    Ok(())
}

/// A process that holds the lock longer than this is taken for a daemon.
const PATIENCE: Duration = Duration::from_millis(200);
/// How long a daemon that was asked to end may take: it drains for 5 s.
const HANDOVER: Duration = Duration::from_secs(15);

/// Takes the lock, unless a daemon holds it. Two others hold it briefly and are waited for: a client that
/// checks for a daemon, and a process that a daemon was starting when it died, between fork and exec.
fn lock(file: &File, patience: Duration) -> io::Result<bool> {
    let patience = Instant::now() + patience;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(e)) => return Err(e),
            Err(TryLockError::WouldBlock) if Instant::now() >= patience => return Ok(false),
            Err(TryLockError::WouldBlock) => std::thread::park_timeout(Duration::from_millis(1)),
        }
    }
}

/// The process that holds the lock, if it has announced itself.
fn holder(mut file: &File) -> Option<Running> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Writes the pid, socket and version into the file.
pub(super) fn announce(file: &File, path: &Path, socket: &Path, version: &str) -> Result<(), InstanceError> {
    let said = Running { pid: std::process::id(), socket: socket.to_owned(), version: version.to_owned() };
    serde_json::to_vec(&said)
        .map_err(io::Error::from)
        .and_then(|mut bytes| {
            bytes.push(b'\n');
            write(file, &bytes)
        })
        .map_err(InstanceError::io("write", path))
}

/// Removes the announcement. Best effort: no daemon answers there anyway.
pub(super) fn withdraw(file: &File) {
    if let Err(e) = file.set_len(0) {
        tracing::debug!(error = %e, "the lock file could not be cleared");
    }
}

fn write(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(bytes)
}
