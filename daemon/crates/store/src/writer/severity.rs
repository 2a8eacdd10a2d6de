use rusqlite::{Error, ErrorCode, ffi};

/// What a SQLite error means for the work that met it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// Only this piece of work is wrong.
    Statement,
    /// The disk is full: retry later.
    NoRoom,
    /// Another process holds the database: retry later.
    Locked,
    /// Pages are not what was written. Everything but records can be made anew.
    Damaged,
    /// What is on disk is unknown: after a failed `fsync`, pages that count as written may be lost.
    Final,
}

impl Severity {
    pub(crate) fn of(error: &Error) -> Self {
        let Error::SqliteFailure(failure, _) = error else { return Self::Statement };
        match failure.code {
            ErrorCode::DiskFull => Self::NoRoom,
            // The log's index could not grow; it can be rebuilt from the log.
            ErrorCode::SystemIoFailure if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => Self::NoRoom,
            ErrorCode::DatabaseCorrupt => Self::Damaged,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_as_severe_as_what_it_leaves_on_disk() {
        for (code, severity) in [
            (ffi::SQLITE_CONSTRAINT_UNIQUE, Severity::Statement),
            (ffi::SQLITE_MISMATCH, Severity::Statement),
            (ffi::SQLITE_TOOBIG, Severity::Statement),
            (ffi::SQLITE_FULL, Severity::NoRoom),
            (ffi::SQLITE_IOERR_SHMSIZE, Severity::NoRoom),
            (ffi::SQLITE_BUSY, Severity::Locked),
            (ffi::SQLITE_LOCKED, Severity::Locked),
            (ffi::SQLITE_IOERR_FSYNC, Severity::Final),
            (ffi::SQLITE_IOERR_SHMMAP, Severity::Final),
            (ffi::SQLITE_CORRUPT, Severity::Damaged),
            (ffi::SQLITE_CORRUPT_VTAB, Severity::Damaged),
            (ffi::SQLITE_NOTADB, Severity::Final),
        ] {
            let error = Error::SqliteFailure(ffi::Error::new(code), None);
            assert_eq!(Severity::of(&error), severity, "{error}");
        }
        assert_eq!(Severity::of(&Error::QueryReturnedNoRows), Severity::Statement);
    }
}
