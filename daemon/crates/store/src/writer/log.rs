//! The write-ahead log. SQLite would bring it into the database by itself, but keep quiet about a disk that fails there.

use crate::open::BUSY;
use abide_fail_point::{Point, pass};
use rusqlite::Connection;
use std::time::Duration;

/// Pages of the log that are not in the database yet, before they are brought there.
const LONG: i64 = 1000;

/// How long everybody waits for those who still read what is to be erased. They read for milliseconds, except for a backup or
/// a check of the whole database.
const PATIENCE: Duration = Duration::from_millis(50);

/// Brings the log into the database if it has grown long.
pub(super) fn shorten(connection: &Connection) -> rusqlite::Result<()> {
    let pending: i64 = connection
        .prepare_cached("PRAGMA wal_checkpoint(NOOP)")?
        .query_row([], |row| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?))?;
    if pending >= LONG {
        // Readers may keep it from getting all the way; it goes on from there the next time.
        pass(Point::Checkpoint);
        connection.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?.query_row([], |_| Ok(()))?;
        pass(Point::Checkpointed);
    }
    Ok(())
}

/// Brings all of the log into the database and cuts it to nothing; says whether that was possible.
pub(super) fn empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.busy_timeout(PATIENCE)?;
    let busy = connection
        .prepare_cached("PRAGMA wal_checkpoint(TRUNCATE)")
        .and_then(|mut statement| statement.query_row([], |row| row.get::<_, bool>(0)));
    connection.busy_timeout(BUSY)?;
    Ok(!busy?)
}
