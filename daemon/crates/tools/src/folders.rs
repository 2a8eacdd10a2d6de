//! Folders beneath another, opened by descriptor and through no link.

use rustix::{
    fs::{Mode, OFlags, ResolveFlags, mkdirat, openat, openat2},
    io::{Errno, Result},
};
use std::{
    ffi::OsStr,
    os::fd::{BorrowedFd, OwnedFd},
    path::{Component, Path},
};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens the folder at a relative path.
pub(crate) fn open(root: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(root, path, FOLDER, Mode::empty(), resolve)
}

/// Opens the folder at a relative path, and makes missing folders on the way. Each folder is made in its open
/// parent, whatever takes the parent's place meanwhile.
pub(crate) fn make(root: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd> {
    let mut folder = openat(root, ".", FOLDER, Mode::empty())?;
    for part in path.components() {
        folder = match part {
            Component::CurDir => continue,
            Component::Normal(name) => open_or_make(&folder, name)?,
            _ => return Err(Errno::INVAL),
        };
    }
    Ok(folder)
}

fn open_or_make(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd> {
    let open = || openat(folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
    match open() {
        Err(Errno::NOENT) => match mkdirat(folder, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => open(),
            Err(error) => Err(error),
        },
        opened => opened,
    }
}
