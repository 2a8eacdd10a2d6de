//! Writes files back into a work tree: by descriptor, beneath the root, through no link, each file as a whole
//! or not at all.

use super::{
    NoCheckpoint,
    changes::name,
    plan::{Entry, Planned},
    repository::Repository,
    take::changed_at,
    undo::{CHANGED, COLLECTED},
};
use crate::folders;
use abide_fail_point::{Point, pass};
use abide_protocol::checkpoint::KeptFile;
use rustix::{
    fs::{
        AtFlags, FileType, Mode, OFlags, RawMode, RenameFlags, fchmod, openat, renameat_with, statat,
        symlinkat, syncfs, unlinkat,
    },
    io::Errno,
};
use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, BufRead as _, BufReader, Read, Write as _},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::Path,
};

/// Why one file was not restored.
enum NotRestored {
    /// Somebody has changed the file after the undo began.
    Changed,
    /// A folder is in the file's place, or a file is in the place of its folder.
    InTheWay,
    Io(io::Error),
}

impl From<io::Error> for NotRestored {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Errno> for NotRestored {
    fn from(error: Errno) -> Self {
        match error {
            // A link on the way, or a file.
            Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NOTEMPTY => Self::InTheWay,
            error => Self::Io(error.into()),
        }
    }
}

impl NotRestored {
    fn of(self, path: &[u8]) -> KeptFile {
        let why = match self {
            Self::Changed => CHANGED.to_owned(),
            Self::InTheWay => "something else is in its place".to_owned(),
            Self::Io(error) => error.to_string(),
        };
        KeptFile::because(name(path), why)
    }
}

impl Repository<'_> {
    /// Restores files, except those that somebody changes meanwhile. Returns the files that were not
    /// restored. `began`: when the work tree was looked at.
    pub(super) fn restore(
        &self,
        files: &[&Planned],
        began: i64,
        temporary: &str,
    ) -> Result<Vec<KeptFile>, NoCheckpoint> {
        let mut kept = Vec::new();
        // Removals first: a folder may have to make room for a file.
        let mut folders = BTreeSet::new();
        for file in files.iter().filter(|file| file.target.is_none()) {
            match self.remove(&file.path, began) {
                Ok(()) => folders.extend(above(&file.path)),
                Err(why) => kept.push(why.of(&file.path)),
            }
            pass(Point::FileRestored);
        }
        // The deepest folders first. A folder that is not empty stays.
        for folder in folders.into_iter().rev() {
            let _ = unlinkat(self.root(), OsStr::from_bytes(folder), AtFlags::REMOVEDIR);
        }
        let there: Vec<(&[u8], &Entry, bool)> = files
            .iter()
            .filter_map(|file| Some((&*file.path, file.target.as_ref()?, file.current.is_some())))
            .collect();
        if !there.is_empty() {
            self.write(&there, began, temporary, &mut kept)?;
        }
        syncfs(self.root()).map_err(io::Error::from).map_err(NoCheckpoint::io(self.top()))?;
        Ok(kept)
    }

    fn remove(&self, path: &[u8], began: i64) -> Result<(), NotRestored> {
        let Some((folder, name)) = self.folder(path, false)? else { return Ok(()) };
        match unchanged(&folder, &name, began) {
            Ok(()) => Ok(unlinkat(&folder, &name, AtFlags::empty())?),
            Err(NotRestored::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(why) => Err(why),
        }
    }

    /// Writes files. Git prints their contents one after the other.
    fn write(
        &self,
        files: &[(&[u8], &Entry, bool)],
        began: i64,
        temporary: &str,
        kept: &mut Vec<KeptFile>,
    ) -> Result<(), NoCheckpoint> {
        let input: String = files.iter().map(|(_, entry, _)| format!("{}\n", entry.id)).collect();
        let index = self.file("index");
        let running = self.git().start(self.ours(&index), &["cat-file", "--batch"], input.as_bytes())?;
        let read = running.read(|output| {
            let mut output = BufReader::new(output);
            for (path, entry, is_there) in files {
                let mut line = String::new();
                output.read_line(&mut line)?;
                let size = line.trim_end().rsplit(' ').next().and_then(|size| size.parse::<u64>().ok());
                let Some(size) = size.filter(|_| line.starts_with(&*entry.id)) else {
                    kept.push(KeptFile::because(name(path), COLLECTED));
                    continue;
                };
                let mut content = (&mut output).take(size);
                let written = self.write_file(path, entry, *is_there, began, temporary, &mut content);
                io::copy(&mut content, &mut io::sink())?;
                // The line break after the content.
                output.read_exact(&mut [0])?;
                if let Err(why) = written {
                    kept.push(why.of(path));
                }
                pass(Point::FileRestored);
            }
            Ok(())
        });
        match read? {
            ((), 0, _) => Ok(()),
            ((), _, words) => Err(NoCheckpoint::Failed { what: "cat-file".to_owned(), words }),
        }
    }

    fn write_file(
        &self,
        path: &[u8],
        entry: &Entry,
        is_there: bool,
        began: i64,
        temporary: &str,
        content: &mut dyn Read,
    ) -> Result<(), NotRestored> {
        let Some((folder, name)) = self.folder(path, true)? else { return Err(NotRestored::InTheWay) };
        // A temporary file that a crash of an earlier attempt has left.
        let _ = unlinkat(&folder, temporary, AtFlags::empty());
        let mode = if is_there {
            unchanged(&folder, &name, began)?;
            statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| stat.st_mode)
        } else {
            None
        };
        if entry.mode == "120000" {
            let mut target = Vec::new();
            content.read_to_end(&mut target)?;
            symlinkat(OsStr::from_bytes(&target), &folder, temporary)?;
        } else {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let is_executable = entry.mode == "100755";
            let new = if is_executable { 0o777 } else { 0o666 };
            let mut file = File::from(openat(&folder, temporary, flags, Mode::from_raw_mode(new))?);
            io::copy(content, &mut file)?;
            file.flush()?;
            if let Some(mode) = mode.filter(|mode| FileType::from_raw_mode(*mode).is_file()) {
                fchmod(&file, Mode::from_raw_mode(permissions(mode, is_executable)))?;
            }
        }
        let flags = if is_there { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
        let placed = renameat_with(&folder, temporary, &folder, &name, flags);
        if placed.is_err() {
            let _ = unlinkat(&folder, temporary, AtFlags::empty());
        }
        match placed {
            Err(Errno::EXIST) => Err(NotRestored::InTheWay),
            placed => Ok(placed?),
        }
    }

    /// A file's folder, opened through no link, and the file's name. Missing folders are made, or the result
    /// is `None`.
    fn folder(&self, path: &[u8], makes: bool) -> Result<Option<(OwnedFd, OsString)>, NotRestored> {
        let end = path.iter().rposition(|byte| *byte == b'/');
        let (folder, file) = end.map_or((&b""[..], path), |end| (&path[..end], &path[end + 1..]));
        let file = OsStr::from_bytes(file).to_owned();
        let folder = Path::new(OsStr::from_bytes(folder));
        let opened =
            if makes { folders::make(self.root(), folder) } else { folders::open(self.root(), folder) };
        match opened {
            Ok(folder) => Ok(Some((folder, file))),
            Err(Errno::NOENT | Errno::NOTDIR) if !makes => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// The folders of a path, the deepest first.
fn above(path: &[u8]) -> Vec<&[u8]> {
    let ends = path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/');
    ends.map(|(end, _)| &path[..end]).collect()
}

/// Refuses a file that was changed after `began`, and anything but a file or a link.
fn unchanged(folder: &OwnedFd, name: &OsStr, began: i64) -> Result<(), NotRestored> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile | FileType::Symlink if changed_at(&stat) > began => Err(NotRestored::Changed),
        FileType::RegularFile | FileType::Symlink => Ok(()),
        _ => Err(NotRestored::InTheWay),
    }
}

/// The permissions of a file that becomes executable, or not: for those who may read it.
const fn permissions(mode: RawMode, is_executable: bool) -> RawMode {
    let mode = mode & 0o777;
    if is_executable { mode | ((mode & 0o444) >> 2) } else { mode & !0o111 }
}
