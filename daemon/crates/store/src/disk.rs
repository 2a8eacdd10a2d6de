//! Files beside the database: names, modes, durability.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

/// The database's path with this suffix.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Creates an empty file that only its owner can read, replacing an existing one.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    // If the old file cannot be removed, the new file cannot be created either.
    let _ = fs::remove_file(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Creates a folder that only its owner can enter, and its parents; existing folders stay as they are.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Lets only the owner read the file. (SQLite gives the log and its index the database's mode.)
pub(crate) fn restrict(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Makes a rename within the folder durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
