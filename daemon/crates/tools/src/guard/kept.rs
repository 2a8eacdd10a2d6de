//! Copies of the protected files from before a command, to bring back a file whose place was taken. (An open
//! file would not do: a command may reach the file in the moment in which a person replaces it.)

use super::{Seen, place::FolderEntry};
use rustix::fs::{CWD, Mode, OFlags, openat};
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::{self, File},
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// The most files that are kept for a command.
const MAX: usize = 64;

/// The size in bytes above which a file is not kept.
const MAX_FILE: u64 = 256 * 1024;

#[derive(Debug, Default)]
pub(super) struct Kept(BTreeMap<PathBuf, Original>);

#[derive(Debug)]
enum Original {
    File { content: Vec<u8>, mode: u32 },
    Link(OsString),
}

impl Kept {
    pub(super) fn of(seen: &Seen) -> Self {
        let there = seen.files.iter().filter(|(_, identity)| identity.is_some());
        Self(there.filter_map(|(path, _)| Some((path.clone(), original(path)?))).take(MAX).collect())
    }

    /// Puts the original back at a path where nothing is now. Returns whether there was an original.
    pub(super) fn restore(&self, path: &Path) -> io::Result<bool> {
        let (Some(original), Some(place)) = (self.0.get(path), FolderEntry::of(path)?) else {
            return Ok(false);
        };
        match original {
            Original::Link(target) => place.link(target)?,
            Original::File { content, mode } => place.write(content, *mode)?,
        }
        Ok(true)
    }
}

fn original(path: &Path) -> Option<Original> {
    let kind = fs::symlink_metadata(path).ok()?.file_type();
    if kind.is_symlink() {
        return Some(Original::Link(fs::read_link(path).ok()?.into()));
    }
    // `NONBLOCK`: a pipe that has taken the file's place must not hold anything up.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = if kind.is_file() { openat(CWD, path, flags, Mode::empty()).ok()? } else { return None };
    let mut file = File::from(file);
    let there = file.metadata().ok().filter(|there| there.is_file() && there.len() <= MAX_FILE)?;
    let mut content = Vec::new();
    file.read_to_end(&mut content).ok()?;
    Some(Original::File { content, mode: there.permissions().mode() & 0o777 })
}
