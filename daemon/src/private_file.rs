//! Reads a file that nobody but this user may read or change.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::Path,
};

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// Why it is not read.
#[derive(Debug)]
pub(crate) enum Fault {
    Io(io::Error),
    /// Others can read or change it.
    Exposed,
    /// It is no file, or another user's.
    NotOurs,
}

/// The file's text; `None` if there is no file.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Fault> {
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(Fault::Io(e)),
        Ok(found) => private(&found)?,
    }
    let file = File::open(path).map_err(Fault::Io)?;
    private(&file.metadata().map_err(Fault::Io)?)?;
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).map_err(Fault::Io)?;
    Ok(Some(text))
}

#[cfg(unix)]
fn private(found: &fs::Metadata) -> Result<(), Fault> {
    use std::os::unix::fs::MetadataExt as _;
    if !found.is_file() || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(Fault::NotOurs);
    }
    if found.mode() & 0o077 != 0 {
        return Err(Fault::Exposed);
    }
    Ok(())
}

#[cfg(not(unix))]
fn private(_: &fs::Metadata) -> Result<(), Fault> {
    Ok(())
}
