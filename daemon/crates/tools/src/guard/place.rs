//! A path that is reached through no link, because other commands may change the folders on the way.

use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, fchmod, openat, openat2, symlinkat},
    io::Errno,
};
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Write as _},
    os::fd::OwnedFd,
    path::Path,
};

pub(super) struct FolderEntry {
    pub(super) folder: OwnedFd,
    pub(super) name: OsString,
}

impl FolderEntry {
    /// `None`: the path's folder is gone.
    pub(super) fn of(path: &Path) -> io::Result<Option<Self>> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            Err(Errno::NOENT) => Ok(None),
            folder => Ok(Some(Self { folder: folder?, name: name.to_owned() })),
        }
    }

    /// Makes a file where nothing is.
    pub(super) fn write(&self, content: &[u8], mode: u32) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.folder, &self.name, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(content)?;
        Ok(fchmod(&file, Mode::from_raw_mode(mode))?)
    }

    /// Makes a link where nothing is.
    pub(super) fn link(&self, target: &OsStr) -> io::Result<()> {
        Ok(symlinkat(target, &self.folder, &self.name)?)
    }
}
