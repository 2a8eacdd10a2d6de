//! Copies the database to a place chosen by the user.

use abide_host::home::Home;
use abide_store::{CopyError, Existing, Store};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Why no copy was made. No file was changed.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{} is part of Abide's own files in {}; nothing was written: choose a place outside", path.display(), folder.display())]
    Own { path: PathBuf, folder: PathBuf },
    #[error("{} exists; nothing was written: choose another name, or replace it with --force", path.display())]
    Exists { path: PathBuf },
    #[error("{} {found}; nothing was written: name a file", path.display())]
    NotAFile { path: PathBuf, found: &'static str },
    #[error("cannot write {}: there is no such folder as {}; create it, or choose another place", path.display(), folder.display())]
    NoFolder { path: PathBuf, folder: PathBuf },
    #[error("cannot read {}: {source}; nothing was written: choose another place", path.display())]
    Inaccessible { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Copy(CopyError),
}

impl From<CopyError> for BackupError {
    fn from(error: CopyError) -> Self {
        match error {
            // It was created since the check.
            CopyError::Exists { path } => Self::Exists { path },
            error => Self::Copy(error),
        }
    }
}

/// Writes a copy of the home's database, even beside a running daemon. Blocks. The target cannot be in a
/// folder of the home, nor be another name of a file there; an existing file is replaced only if `existing`
/// allows it.
///
/// # Errors
/// See [`BackupError`].
pub fn backup(home: &Home, to: &Path, existing: Existing) -> Result<(), BackupError> {
    Ok(Store::copy(&home.database(), &target(home, to, existing)?, existing)?)
}

/// The resolved path of a file that may be written.
pub(super) fn target(home: &Home, to: &Path, existing: Existing) -> Result<PathBuf, BackupError> {
    let target = Target::find(to)?;
    if let Some(folder) = own_folders(home).find(|folder| target.is_in(folder)) {
        return Err(BackupError::Own { path: to.to_owned(), folder });
    }
    target.may_be_written(existing)?;
    Ok(target.path)
}

/// The target of a backup.
struct Target {
    /// Resolved, without symbolic links and `..`.
    path: PathBuf,
    /// The existing file, if there is one.
    found: Option<fs::Metadata>,
}

impl Target {
    fn find(path: &Path) -> Result<Self, BackupError> {
        let inaccessible = |source| BackupError::Inaccessible { path: path.to_owned(), source };
        match fs::canonicalize(path) {
            Ok(real) => {
                let found = fs::metadata(&real).map_err(inaccessible)?;
                return Ok(Self { path: real, found: Some(found) });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(inaccessible(error)),
        }
        let Some(name) = path.file_name() else {
            return Err(BackupError::NotAFile { path: path.to_owned(), found: "has no name" });
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let real = match fs::canonicalize(folder) {
            Ok(real) => real.join(name),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(BackupError::NoFolder { path: path.to_owned(), folder: folder.to_owned() });
            }
            Err(error) => return Err(inaccessible(error)),
        };
        if fs::symlink_metadata(&real).is_ok() {
            return Err(BackupError::NotAFile {
                path: path.to_owned(),
                found: "is a link that leads nowhere",
            });
        }
        Ok(Self { path: real, found: None })
    }

    fn is_in(&self, folder: &Path) -> bool {
        self.path.starts_with(folder) || self.found.as_ref().is_some_and(|found| has_file(folder, found))
    }

    fn may_be_written(&self, existing: Existing) -> Result<(), BackupError> {
        let not_a_file = |found| Err(BackupError::NotAFile { path: self.path.clone(), found });
        match &self.found {
            Some(found) if found.is_dir() => not_a_file("is a folder"),
            Some(found) if !found.is_file() => not_a_file("is not a file"),
            Some(_) if existing == Existing::Keep => Err(BackupError::Exists { path: self.path.clone() }),
            _ => Ok(()),
        }
    }
}

/// The home's existing folders, resolved.
fn own_folders(home: &Home) -> impl Iterator<Item = PathBuf> {
    [&home.data_dir, &home.config_dir, &home.state_dir, &home.run_dir]
        .into_iter()
        .filter_map(|folder| fs::canonicalize(folder).ok())
}

/// Whether the folder, at any depth, has a name of this file.
#[cfg(unix)]
fn has_file(folder: &Path, file: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // A file with one name was found by its path already.
    if !file.is_file() || file.nlink() < 2 {
        return false;
    }
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        entry.metadata().is_ok_and(|found| {
            (found.dev(), found.ino()) == (file.dev(), file.ino())
                || found.is_dir() && has_file(&entry.path(), file)
        })
    })
}

#[cfg(not(unix))]
fn has_file(_: &Path, _: &fs::Metadata) -> bool {
    false
}
