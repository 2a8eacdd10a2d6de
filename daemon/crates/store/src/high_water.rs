//! The newest-record mark: the seq of the newest stored record, in a file beside the database.
//!
//! SQLite takes any damage in its log for the log's end, so stored records can vanish without an error. A
//! database whose newest record is older than the mark has lost records.

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
    /// `None`: the file cannot be written.
    file: Option<File>,
    /// The last write of the file failed.
    behind: bool,
}

impl HighWater {
    /// Opens the mark of a database that has passed [`check_not_behind`].
    pub(crate) fn beside(database: &Path, newest: Seq) -> Self {
        let path = path(database);
        let file = match File::options().write(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if newest > Seq(0) {
                    tracing::warn!(
                        path = %path.display(),
                        "the newest-record mark is missing, so a loss of the newest records before this start would go unnoticed; it is \
                         made anew"
                    );
                }
                create_private(&path)
            }
            opened => opened,
        };
        if let Err(error) = &file {
            tracing::warn!(path = %path.display(), %error, "cannot keep the newest-record mark; going on without it");
        }
        let mut mark = Self { path, file: file.ok(), behind: false };
        mark.raise(newest);
        mark
    }

    /// Raises the mark after a commit. The mark is not synced: after a power failure it may be too low, never
    /// too high.
    pub(crate) fn raise(&mut self, newest: Seq) {
        let Some(file) = &mut self.file else { return };
        let written = write(file, newest);
        if let Err(error) = &written
            && !self.behind
        {
            // Expected on a full disk; the database is what counts.
            tracing::warn!(path = %self.path.display(), %error, "cannot raise the newest-record mark for now");
        }
        self.behind = written.is_err();
    }
}

/// Checks that the database has all records up to the mark; changes nothing.
pub(crate) fn check_not_behind(
    database: &Path,
    connection: &Connection,
    noted: Seq,
) -> Result<(), OpenError> {
    let newest = newest(connection).map_err(|error| OpenError::sqlite(database, &error))?;
    if noted > newest {
        return Err(OpenError::Behind { path: database.to_owned(), newest, noted });
    }
    Ok(())
}

/// Checks that no database was ever used here; changes nothing.
pub(crate) fn check_never_used(database: &Path) -> Result<(), OpenError> {
    match noted(database) {
        Seq(0) => Ok(()),
        noted => Err(OpenError::Missing { path: database.to_owned(), noted }),
    }
}

/// The mark; 0 if it is missing or cannot be read.
pub(crate) fn noted(database: &Path) -> Seq {
    let path = path(database);
    let noted = match fs::read_to_string(&path) {
        Ok(words) => words.trim().parse().map_err(|_| "it is not a number".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error.to_string()),
    };
    Seq(noted.unwrap_or_else(|reason| {
        tracing::warn!(path = %path.display(), reason, "cannot read the newest-record mark");
        0
    }))
}

/// Lowers the mark to the newest record that is left.
pub(crate) fn accept_newest(database: &Path, newest: Seq) -> Result<(), OpenError> {
    let path = path(database);
    let accept_newest = || {
        let mut file = File::options().write(true).open(&path)?;
        write(&mut file, newest)?;
        file.sync_all()
    };
    accept_newest()
        .map_err(|error: io::Error| OpenError::Inaccessible { path: path.clone(), reason: error.to_string() })
}

/// The newest record's seq.
pub(crate) fn newest(connection: &Connection) -> rusqlite::Result<Seq> {
    connection.prepare_cached("SELECT coalesce(max(seq), 0) FROM records")?.query_row([], |row| seq(row, 0))
}

/// Whether there is a mark.
pub(crate) fn is_there(database: &Path) -> bool {
    path(database).exists()
}

fn path(database: &Path) -> PathBuf {
    beside(database, "-newest")
}

/// The text has a constant length, so that it is overwritten in place.
fn write(file: &mut File, newest: Seq) -> io::Result<()> {
    file.rewind()?;
    file.write_all(format!("{:020}\n", newest.0).as_bytes())
}
