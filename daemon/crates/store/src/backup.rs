//! Copies and integrity checks of the database.

use crate::{
    Store,
    disk::sync_folder,
    error::{OpenError, ReadError},
    open,
    query::changed_records,
};
use rusqlite::Connection;
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};
use tempfile::NamedTempFile;

/// The result of an integrity check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Integrity {
    Sound,
    /// At most 20 findings: SQLite's messages, or records whose checksum does not match.
    Damaged(Vec<String>),
}

/// The most findings reported.
const FINDINGS: usize = 20;

/// What to do if a file with the copy's name exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Fail, and keep the file.
    Keep,
    /// Replace the file once the copy is complete.
    Replace,
}

/// Why no copy was made.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("{} exists already", path.display())]
    Exists { path: PathBuf },
    #[error("cannot write {}: {source}; choose another place, or make room", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("the database cannot be copied: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// Writes a compact copy of the database's current state. Only the owner can read the copy, which gets its
/// name when it is complete.
pub(crate) fn write(connection: &Connection, to: &Path, existing: Existing) -> Result<(), CopyError> {
    let failed = |source| CopyError::Write { path: to.to_owned(), source };
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let partial = NamedTempFile::new_in(folder).map_err(failed)?;
    let name = partial.path().to_str().ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
    connection.execute("VACUUM INTO ?1", [name])?;
    partial.as_file().sync_all().map_err(failed)?;
    match existing {
        Existing::Keep => partial.persist_noclobber(to).map_err(|e| match e.error {
            error if error.kind() == io::ErrorKind::AlreadyExists => {
                CopyError::Exists { path: to.to_owned() }
            }
            error => failed(error),
        })?,
        Existing::Replace => partial.persist(to).map_err(|e| failed(e.error))?,
    };
    sync_folder(folder).map_err(failed)
}

/// Checks the whole database.
pub(crate) fn integrity(connection: &Connection) -> Result<Integrity, ReadError> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({FINDINGS})"))?;
    let findings = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    if findings != ["ok"] {
        return Ok(Integrity::Damaged(findings));
    }
    let changed = changed_records(connection, FINDINGS)?;
    Ok(if changed.is_empty() { Integrity::Sound } else { Integrity::Damaged(changed) })
}

impl Store {
    /// Checks the whole database beside other work. Takes a second for some hundred megabytes.
    pub async fn check(&self) -> Result<Integrity, ReadError> {
        let path = Arc::clone(&self.path);
        // A connection that has searched remembers the index, and calls words deleted since then damage.
        self.read_outside(move |_| integrity(&open::reader(&path)?)).await
    }
}
