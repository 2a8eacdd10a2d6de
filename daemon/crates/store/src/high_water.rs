//! The seq of the newest record that was stored, in a file beside the database.
//!
//! SQLite takes whatever is wrong in its log for the log's end, so damage to it would take stored records away without a word. A
//! database that ends before the mark has lost some.

use crate::{
    column::seq,
    disk::{beside, create_private},
    error::OpenError,
};
use abide_protocol::Seq;
use rusqlite::Connection;
use std::{
    fs::{self, File},
    io::{self, Seek as _, Write as _},
    path::{Path, PathBuf},
};

#[derive(Debug)]
pub(crate) struct HighWater {
    path: PathBuf,
    /// `None`: it cannot be kept.
    file: Option<File>,
    /// The last write failed.
    behind: bool,
}

impl HighWater {
    /// Of a database that [`reaches`] what was noted.
    pub(crate) fn beside(database: &Path, newest: Seq) -> Self {
        let path = path(database);
        let file = match File::options().write(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => create_private(&path),
            opened => opened,
        };
        if let Err(error) = &file {
            tracing::warn!(path = %path.display(), %error, "it goes on without a note of the newest record");
        }
        let mut mark = Self { path, file: file.ok(), behind: false };
        mark.raise(newest);
        mark
    }

    /// All up to that record is stored. This is not synced: after a power failure the mark may be too low, never too high.
    pub(crate) fn raise(&mut self, newest: Seq) {
        let Some(file) = &mut self.file else { return };
        let written = write(file, newest);
        if let Err(error) = &written
            && !self.behind
        {
            // On a full disk, say; what counts is in the database.
            tracing::warn!(path = %self.path.display(), %error, "the newest record is not noted for now");
        }
        self.behind = written.is_err();
    }
}

/// Looks whether the database has all that was stored when the mark was read; changes nothing.
pub(crate) fn reaches(database: &Path, connection: &Connection, noted: Seq) -> Result<(), OpenError> {
    let newest = newest(connection).map_err(|error| OpenError::sqlite(database, &error))?;
    if noted > newest {
        return Err(OpenError::Behind { path: database.to_owned(), newest, noted });
    }
    Ok(())
}

/// Looks whether there may well be no database; changes nothing.
pub(crate) fn may_be_missing(database: &Path) -> Result<(), OpenError> {
    match noted(database) {
        Seq(0) => Ok(()),
        noted => Err(OpenError::Missing { path: database.to_owned(), noted }),
    }
}

/// The mark; 0 if there is none that can be read.
pub(crate) fn noted(database: &Path) -> Seq {
    let path = path(database);
    let noted = match fs::read_to_string(&path) {
        Ok(words) => words.trim().parse().map_err(|_| "it is not the number of a record".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error.to_string()),
    };
    Seq(noted.unwrap_or_else(|reason| {
        tracing::warn!(path = %path.display(), reason, "which record was the newest is not known");
        0
    }))
}

/// Takes what the database has for all that was stored.
pub(crate) fn lower(database: &Path, newest: Seq) -> Result<(), OpenError> {
    let path = path(database);
    let lower = || {
        let mut file = File::options().write(true).open(&path)?;
        write(&mut file, newest)?;
        file.sync_all()
    };
    lower()
        .map_err(|error: io::Error| OpenError::Inaccessible { path: path.clone(), reason: error.to_string() })
}

/// The newest record's seq.
pub(crate) fn newest(connection: &Connection) -> rusqlite::Result<Seq> {
    connection.prepare_cached("SELECT coalesce(max(seq), 0) FROM records")?.query_row([], |row| seq(row, 0))
}

fn path(database: &Path) -> PathBuf {
    beside(database, "-newest")
}

/// Always as long, so that it is written in place.
fn write(file: &mut File, newest: Seq) -> io::Result<()> {
    file.rewind()?;
    file.write_all(format!("{:020}\n", newest.0).as_bytes())
}
