//! Writes the write-ahead log (WAL) back into the database. SQLite could do so by itself, but would not
//! report a failing disk.

use crate::open::BUSY;
use abide_fail_point::{Point, pass};
use rusqlite::Connection;
use std::time::Duration;

/// The number of pages of the log at which the log is written back.
const LONG_PAGES: i64 = 1000;

/// How long the writer waits for readers of an older state. Reads take milliseconds, except for a backup or a
/// check of the whole database.
const READER_WAIT: Duration = Duration::from_millis(50);

/// Writes the log back if it is long.
pub(super) fn write_back_if_long(connection: &Connection) -> rusqlite::Result<()> {
    let pending: i64 = connection
        .prepare_cached("PRAGMA wal_checkpoint(NOOP)")?
        .query_row([], |row| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?))?;
    if pending >= LONG_PAGES {
        // Readers may keep this write from finishing; the next write continues.
        pass(Point::WalWriteBack);
        connection.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?.query_row([], |_| Ok(()))?;
        pass(Point::WalWrittenBack);
    }
    Ok(())
}

/// Moves all of the log into the database and truncates it. Returns whether that was possible.
pub(super) fn truncate(connection: &Connection) -> rusqlite::Result<bool> {
    connection.busy_timeout(READER_WAIT)?;
    let busy = connection
        .prepare_cached("PRAGMA wal_checkpoint(TRUNCATE)")
        .and_then(|mut statement| statement.query_row([], |row| row.get::<_, bool>(0)));
    connection.busy_timeout(BUSY)?;
    Ok(!busy?)
}
