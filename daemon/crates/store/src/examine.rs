//! Reads a database beside a running daemon, or one that a daemon cannot open. Changes nothing.

use crate::{
    Store,
    backup::{self, CopyError, Existing, Integrity},
    column::count,
    error::{OpenError, ReadError},
    high_water, migrate, open,
};
use rusqlite::Connection;
use std::{fs, path::Path};

/// The result of [`Store::examine`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// The file's schema.
    pub schema: i64,
    /// The schema that this version writes.
    pub newest_schema: i64,
    /// The file's size, without its log.
    pub bytes: u64,
    pub conversations: u64,
    pub records: u64,
    pub integrity: Integrity,
    /// The newest-record mark is missing: a loss of the newest records would go unnoticed.
    pub lacks_mark: bool,
}

impl Store {
    /// Reads the whole database. Blocks: a second for some hundred megabytes.
    ///
    /// # Errors
    /// The database cannot be opened.
    pub fn examine(path: &Path) -> Result<Examined, OpenError> {
        let (connection, schema) = open_complete(path)?;
        let lacks_mark = !high_water::is_there(path);
        let bytes = fs::metadata(path).map_or(0, |found| found.len());
        let look = || {
            let totals = "SELECT (SELECT count(*) FROM conversations), (SELECT count(*) FROM records)";
            let (conversations, records) =
                connection.query_row(totals, [], |row| Ok((count(row, 0)?, count(row, 1)?)))?;
            let integrity = backup::integrity(&connection)?;
            Ok(Examined {
                schema,
                newest_schema: migrate::CURRENT,
                bytes,
                conversations,
                records,
                integrity,
                lacks_mark,
            })
        };
        look().map_err(|error| match error {
            ReadError::Sqlite(error) => OpenError::sqlite(path, &error),
            error => OpenError::Damaged { path: path.to_owned(), reason: error.to_string() },
        })
    }

    /// Checks that this version can open the database: it is Abide's, and its schema is not newer. A missing
    /// database passes.
    ///
    /// # Errors
    /// This version cannot open the database; the error says why.
    pub fn check_schema(path: &Path) -> Result<(), OpenError> {
        if !path.exists() {
            return high_water::check_never_used(path);
        }
        migrate::identify(&reader(path)?, path).map(drop)
    }

    /// Writes a copy of the database's current state, even while a daemon uses the database. Blocks.
    ///
    /// # Errors
    /// The database cannot be read, or the copy cannot be written. Then no copy exists.
    pub fn copy(path: &Path, to: &Path, existing: Existing) -> Result<(), CopyError> {
        let (connection, _) = open_complete(path)?;
        backup::write(&connection, to, existing)
    }
}

/// A reader's connection to a database that lacks no records, and its schema.
pub(crate) fn open_complete(path: &Path) -> Result<(Connection, i64), OpenError> {
    if !path.exists() {
        high_water::check_never_used(path)?;
    }
    // Read before the database is opened: a daemon may be appending.
    let noted = high_water::noted(path);
    let connection = reader(path)?;
    let schema = migrate::identify(&connection, path)?;
    high_water::check_not_behind(path, &connection, noted)?;
    Ok((connection, schema))
}

fn reader(path: &Path) -> Result<Connection, OpenError> {
    // SQLite's own error does not give the reason.
    if let Err(error) = fs::metadata(path) {
        return Err(OpenError::Inaccessible { path: path.to_owned(), reason: error.to_string() });
    }
    open::reader(path)
}
