use rusqlite::{Error, ErrorCode, ffi};

/// What a SQLite error means for the work that met it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    /// Only this piece of work is wrong.
    Statement,
    /// The disk is full: retry later.
    NoRoom,
    /// Another process holds the database: retry later.
    Locked,
    /// What is on disk is unknown: after a failed `fsync`, pages that count as written may be lost.
    Final,
}

impl Severity {
    pub(super) fn of(error: &Error) -> Self {
        let Error::SqliteFailure(failure, _) = error else { return Self::Statement };
        match failure.code {
            ErrorCode::DiskFull => Self::NoRoom,
            // The log's index could not grow; it can be rebuilt from the log.
            ErrorCode::SystemIoFailure if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => Self::NoRoom,
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Locked,
            ErrorCode::ConstraintViolation
            | ErrorCode::TypeMismatch
            | ErrorCode::TooBig
            | ErrorCode::ParameterOutOfRange
            | ErrorCode::Unknown => Self::Statement,
            _ => Self::Final,
        }
    }
}
