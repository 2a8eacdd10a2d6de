use rusqlite::{Error, ErrorCode, ffi};

/// What an error of SQLite means for what was to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    /// It is wrong in itself; the rest is not touched.
    Statement,
    /// Later.
    NoRoom,
    /// Later: somebody else holds the database.
    Locked,
    /// Nothing can be relied on any more (an `fsync` that failed may have lost pages that count as written).
    Final,
}

impl Severity {
    pub(super) fn of(error: &Error) -> Self {
        let Error::SqliteFailure(failure, _) = error else { return Self::Statement };
        match failure.code {
            ErrorCode::DiskFull => Self::NoRoom,
            // The index of the log could not grow. It holds nothing that is not in the log.
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
