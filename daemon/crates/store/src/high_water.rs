//! The seq of the newest record that was stored, in a file beside the database.
//!
//! SQLite takes whatever is wrong in its log for the log's end, so damage to it would take stored records away without a word. A
//! database that ends before the mark has lost some.

use crate::{
    column::seq,
    error::OpenError,
    open::{beside, create_private, refused},
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
    /// `None`: it cannot be kept.
    file: Option<File>,
}

impl HighWater {
    /// Of a database that [reaches](reaches) what was noted.
    pub(crate) fn beside(database: &Path) -> Self {
        let path = path(database);
        let opened = match noted(database) {
            Some(_) => File::options().write(true).open(&path),
            None => create_private(&path),
        };
        Self { file: opened.inspect_err(|error| unkept(&path, error)).ok() }
    }

    /// All up to that record is stored. This is not synced: after a power failure the mark may be too low, never too high.
    pub(crate) fn raise(&mut self, newest: Seq) {
        if let Some(file) = &mut self.file
            && let Err(error) = write(file, newest)
        {
            // On a full disk, say; what counts is in the database.
            tracing::debug!(%error, "the newest record is not noted");
        }
    }
}

/// Looks whether the database has all that was stored when the mark was [read](noted); changes nothing.
pub(crate) fn reaches(database: &Path, connection: &Connection, noted: Option<Seq>) -> Result<(), OpenError> {
    let newest = newest(connection).map_err(|error| refused(database, &error))?;
    match noted {
        Some(noted) if noted > newest => {
            Err(OpenError::Behind { path: database.to_owned(), newest, noted, mark: path(database) })
        }
        _ => Ok(()),
    }
}

/// The mark, if there is one that can be read.
pub(crate) fn noted(database: &Path) -> Option<Seq> {
    let path = path(database);
    let words = match fs::read_to_string(&path) {
        Ok(words) => words,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            unkept(&path, &error);
            return None;
        }
    };
    let noted = words.trim().parse().map(Seq);
    if noted.is_err() {
        tracing::warn!(path = %path.display(), "this is not the number of a record; it is written anew");
    }
    noted.ok()
}

/// Forgets the mark of a database that is no more.
pub(crate) fn forget(database: &Path) -> io::Result<()> {
    match fs::remove_file(path(database)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
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

fn unkept(path: &Path, error: &io::Error) {
    tracing::warn!(path = %path.display(), %error, "it goes on without a note of the newest record");
}
