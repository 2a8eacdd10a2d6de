//! The store's errors, in words for the person who can act on them.

use crate::{committed::ClientMessageUse, room::Room};
use abide_protocol::{ConversationId, Seq, TaskId};
use rusqlite::ErrorCode;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why the database was not opened. A database is never replaced or emptied.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot create the folder {}: {source}; make it writable or choose another place", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot create {}: {source}; make its folder writable or choose another place", path.display())]
    Create { path: PathBuf, source: io::Error },
    #[error("cannot open {}: {reason}; check that the file and its folder are readable and writable", path.display())]
    Inaccessible { path: PathBuf, reason: String },
    #[error("{} is not a database of Abide; it was left as it is: move it away or choose another place", path.display())]
    NotOurs { path: PathBuf },
    #[error(
        "{} is of a build before 0.1.0, which this version cannot read; it was left as it is: to save its messages, \
         run the older program's `abide conversations --json` (and with `--archived`), and `abide messages ID --limit 1000 --json` for \
         each of them; then end its daemon (`abide daemon stop`) and move {} away",
        path.display(), path.parent().unwrap_or(path).display()
    )]
    BeforeFirstRelease { path: PathBuf },
    #[error(
        "{} is damaged ({reason}); it was left as it is: move it away together with its -wal, -shm and -newest files and put a backup in its place, or what can be read of it: abide doctor --salvage FILE",
        path.display()
    )]
    Damaged { path: PathBuf, reason: String },
    #[error(
        "{} is missing, but {} is there and may hold the newest records: bring the database back, or move that file away too",
        path.display(), wal.display()
    )]
    OrphanedLog { path: PathBuf, wal: PathBuf },
    #[error(
        "{} is missing, but record {} had been stored in it: bring it back, or begin anew without it: abide doctor --accept-loss",
        path.display(), noted.0
    )]
    Missing { path: PathBuf, noted: Seq },
    #[error(
        "{} ends with record {}, but record {} had been stored: its log was damaged or cut off, or an older copy was put in its place; \
         nothing was changed: bring the newer one back, or go on from what is left: abide doctor --accept-loss",
        path.display(), newest.0, noted.0
    )]
    Behind { path: PathBuf, newest: Seq, noted: Seq },
    #[error(
        "{} was written by a newer Abide (schema {found}, this one knows {known}); it was left as it is: install the newer version",
        path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("{} is in use by another process ({reason}); end that one first", path.display())]
    Busy { path: PathBuf, reason: String },
    #[error("cannot back up {} to {} before changing it: {reason}; it was left as it is", path.display(), to.display())]
    Backup { path: PathBuf, to: PathBuf, reason: String },
    #[error(
        "cannot bring {} from schema {from} to {to}: {reason}; it is as it was, and its backup is beside it",
        path.display()
    )]
    Migration { path: PathBuf, from: i64, to: i64, reason: String },
    #[error("SQLite {found} is too old and can damage a database; at least {needed} is needed")]
    OldSqlite { found: &'static str, needed: &'static str },
    #[error("{}: SQLite would not set {setting} (it is {found}); the file system may not support it", path.display())]
    Setting { path: PathBuf, setting: &'static str, found: String },
    #[error("cannot start a thread for {}: {source}", path.display())]
    Thread { path: PathBuf, source: io::Error },
}

impl OpenError {
    /// The error for a failure of SQLite to open this file.
    pub(crate) fn sqlite(path: &Path, error: &rusqlite::Error) -> Self {
        let (path, reason) = (path.to_owned(), error.to_string());
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotOurs { path },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, reason },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path, reason },
            _ => Self::Inaccessible { path, reason },
        }
    }

    /// The file or its folder cannot be used.
    pub(crate) fn inaccessible(path: &Path, error: &io::Error) -> Self {
        Self::Inaccessible { path: path.to_owned(), reason: error.to_string() }
    }
}

/// Why an append failed. Nothing of the append is in the database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// A request with this client message id has already started a task.
    #[error("the client message id was already used, for task {}", .0.task_id)]
    DuplicateClientMessage(ClientMessageUse),
    /// This other task has the same id or external id.
    #[error("the task's id was already used, for task {0}")]
    DuplicateTaskId(TaskId),
    #[error("conversation {0} does not exist (any more)")]
    ConversationGone(ConversationId),
    /// The append starts or creates something, so it does not wait for room.
    #[error("{0}")]
    Full(Room),
    #[error("the start was withdrawn")]
    Withdrawn,
    #[error("the database is closed")]
    Closed,
    /// A defect of the caller: the append conflicts with stored records.
    #[error("this append cannot be stored: {reason}")]
    Invalid { reason: String },
    /// All further appends fail too: only a restart tells what is on disk.
    #[error("the database cannot be written: {reason}")]
    Failed { reason: String },
}

/// Why a write other than an append failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    #[error("conversation {0} does not exist (any more)")]
    ConversationGone(ConversationId),
    /// Nothing was changed; a later attempt may succeed.
    #[error("{0}")]
    Full(Room),
    #[error("the database is closed")]
    Closed,
    /// A defect: the change conflicts with stored records.
    #[error("this change cannot be stored: {reason}")]
    Invalid { reason: String },
    /// All further writes fail too: only a restart tells what is on disk.
    #[error("the database cannot be written: {reason}")]
    Failed { reason: String },
}

/// Why a read failed.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("the database is closed")]
    Closed,
    #[error("not a cursor of this list: {0:?}")]
    Cursor(String),
    #[error("record {} ({kind}) cannot be read: {reason}", seq.0)]
    Record { seq: Seq, kind: String, reason: Unreadable },
    #[error("task {id} cannot be read: {source}")]
    Task { id: TaskId, source: serde_json::Error },
    #[error("the inbox cannot be read: {0}")]
    Inbox(serde_json::Error),
    #[error("messages cannot be indexed for search: {0}")]
    Index(WriteError),
    #[error("the database cannot be read: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// Why a stored record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("the kind is unknown; a newer Abide may have written it")]
    UnknownKind,
    #[error("its version {found} is newer than {known}; a newer Abide has written it")]
    NewerVersion { found: u32, known: u32 },
    #[error("it was changed after it was stored (its checksum does not match)")]
    Checksum,
    #[error("{0}")]
    Body(#[from] serde_json::Error),
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    #[test]
    fn each_failure_to_open_says_what_the_person_can_do() {
        let found = |code| {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            OpenError::sqlite(Path::new("/d/abide.db"), &error)
        };
        assert!(matches!(found(ffi::SQLITE_NOTADB), OpenError::NotOurs { .. }));
        assert!(matches!(found(ffi::SQLITE_CORRUPT), OpenError::Damaged { .. }));
        assert!(matches!(found(ffi::SQLITE_BUSY), OpenError::Busy { .. }));
        assert!(matches!(found(ffi::SQLITE_LOCKED), OpenError::Busy { .. }));
        assert!(matches!(found(ffi::SQLITE_CANTOPEN), OpenError::Inaccessible { .. }));
    }
}
