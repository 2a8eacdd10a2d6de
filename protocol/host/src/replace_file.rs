//! Atomic replacement of files: after a crash either the old or the new content is there.

use std::{
    ffi::OsString,
    fs::{self, File, Permissions},
    io::{self, Write as _},
    path::Path,
};

/// Writes `text` to a file beside `path` and renames it to `path`. The file is private to this user unless
/// other `permissions` are given.
///
/// # Errors
/// The file cannot be written; the old one is unchanged.
pub fn replace_file(path: &Path, text: &str, permissions: Option<Permissions>) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut name = OsString::from(path.file_name().ok_or(io::ErrorKind::InvalidInput)?);
    name.push(".new");
    let new = folder.join(name);
    // Left by a crash.
    match fs::remove_file(&new) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| match permissions {
        Some(permissions) => file.set_permissions(permissions),
        None => Ok(()),
    });
    let written = written.and_then(|()| file.sync_all()).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written?;
    File::open(folder)?.sync_all()
}
