//! A look at a database from outside: beside a running daemon, or at one that does not start. Changes nothing.

use crate::{
    Store,
    backup::{self, CopyError, Existing, Integrity},
    column::count,
    error::{OpenError, ReadError},
    high_water, migrate, open,
};
use rusqlite::Connection;
use std::{fs, path::Path};

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// Of the file.
    pub schema: i64,
    /// That this version writes.
    pub newest_schema: i64,
    /// Of the file, without its log.
    pub bytes: u64,
    pub conversations: u64,
    pub records: u64,
    pub integrity: Integrity,
}

impl Store {
    /// Looks at the database at that path, all of it. Blocks: a second for some hundred megabytes.
    ///
    /// # Errors
    /// It cannot be opened; why.
    pub fn examine(path: &Path) -> Result<Examined, OpenError> {
        let (connection, schema) = whole(path)?;
        let bytes = fs::metadata(path).map_or(0, |found| found.len());
        let look = || {
            let sums = "SELECT (SELECT count(*) FROM conversations), (SELECT count(*) FROM records)";
            let (conversations, records) =
                connection.query_row(sums, [], |row| Ok((count(row, 0)?, count(row, 1)?)))?;
            let integrity = backup::integrity(&connection, schema)?;
            Ok(Examined { schema, newest_schema: migrate::CURRENT, bytes, conversations, records, integrity })
        };
        look().map_err(|error| match error {
            ReadError::Sqlite(error) => OpenError::sqlite(path, &error),
            error => OpenError::Damaged { path: path.to_owned(), reason: error.to_string() },
        })
    }

    /// Writes a copy of the database at that path, as of one moment, whoever is using it. Blocks.
    ///
    /// # Errors
    /// It cannot be read, or the copy cannot be written: then there is none.
    pub fn copy(path: &Path, to: &Path, existing: Existing) -> Result<(), CopyError> {
        let (connection, _) = whole(path)?;
        backup::write(&connection, to, existing)
    }
}

/// A connection that reads a database in which nothing is missing, and its schema.
pub(crate) fn whole(path: &Path) -> Result<(Connection, i64), OpenError> {
    if !path.exists() {
        high_water::may_be_missing(path)?;
    }
    // Before the database is opened: somebody may be writing.
    let noted = high_water::noted(path);
    let connection = reader(path)?;
    let schema = migrate::identify(&connection, path)?;
    high_water::reaches(path, &connection, noted)?;
    Ok((connection, schema))
}

fn reader(path: &Path) -> Result<Connection, OpenError> {
    // SQLite would say no more than that it cannot open it.
    if let Err(error) = fs::metadata(path) {
        return Err(OpenError::Inaccessible { path: path.to_owned(), reason: error.to_string() });
    }
    open::reader(path)
}
