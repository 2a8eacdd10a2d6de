//! Copies of the database, and the question whether it is sound.

use crate::{
    Store,
    error::ReadError,
    open::{beside, create_private, sync_folder},
};
use rusqlite::Connection;
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

/// What an integrity check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Integrity {
    Sound,
    /// In SQLite's words, at most 20 findings.
    Damaged(Vec<String>),
}

/// Writes a compact copy of one state of the database; a file of that name is replaced once the copy is complete.
pub(crate) fn write(connection: &Connection, to: &Path) -> Result<(), ReadError> {
    let partial = beside(to, "-partial");
    let failed = |source| ReadError::Backup { path: to.to_owned(), source };
    drop(create_private(&partial).map_err(failed)?);
    let name = partial.to_str().ok_or_else(|| failed(std::io::ErrorKind::InvalidFilename.into()))?;
    let written = connection.execute("VACUUM INTO ?1", [name]).map_err(ReadError::from).and_then(|_| {
        File::open(&partial).and_then(|file| file.sync_all()).map_err(failed)?;
        fs::rename(&partial, to).map_err(failed)
    });
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written?;
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    sync_folder(folder).map_err(failed)
}

pub(crate) fn integrity(connection: &Connection) -> rusqlite::Result<Integrity> {
    let mut statement = connection.prepare("PRAGMA integrity_check(20)")?;
    let findings = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    Ok(if findings == ["ok"] { Integrity::Sound } else { Integrity::Damaged(findings) })
}

impl Store {
    /// Writes a copy of the database to that path, while everything goes on.
    pub async fn backup(&self, to: PathBuf) -> Result<(), ReadError> {
        self.read_outside(move |connection| write(connection, &to)).await
    }

    /// Reads the whole database to see whether it is sound. Takes a second for some hundred megabytes, while everything goes on.
    pub async fn check(&self) -> Result<Integrity, ReadError> {
        self.read_outside(|connection| Ok(integrity(connection)?)).await
    }
}
