//! What the database holds, read from outside: never through the daemon, and also while it is dead.

use abide_client::{
    Home,
    protocol::{ConversationId, RecordId, Seq},
};
use rusqlite::{Connection, OpenFlags};

/// A record's place, and what kind it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub seq: Seq,
    pub id: RecordId,
    pub conversation: ConversationId,
    pub kind: String,
    /// JSON.
    pub body: String,
}

/// All records, in order.
///
/// # Panics
/// The database cannot be read.
#[must_use]
pub fn read(home: &Home) -> Vec<Line> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let database = Connection::open_with_flags(home.database(), flags).expect("the database can be opened");
    database.busy_timeout(crate::wait::limit()).expect("a timeout can be set");
    let mut query = database
        .prepare("SELECT seq, id, conversation, kind, body FROM records ORDER BY seq")
        .expect("the database has records");
    let lines = query.query_map([], |row| {
        let seq: i64 = row.get(0)?;
        Ok(Line {
            seq: Seq(seq.unsigned_abs()),
            id: RecordId(row.get(1)?),
            conversation: ConversationId(row.get(2)?),
            kind: row.get(3)?,
            body: row.get(4)?,
        })
    });
    lines.expect("the records can be read").map(|line| line.expect("a record can be read")).collect()
}

/// The records of one conversation, in order.
#[must_use]
pub fn of(home: &Home, conversation: ConversationId) -> Vec<Line> {
    read(home).into_iter().filter(|line| line.conversation == conversation).collect()
}
