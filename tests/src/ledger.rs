//! The content of the database, read from outside: never through the daemon, and also while it does not run.

use abide_client::protocol::{ConversationId, RecordId, Seq, TaskId, record::RecordBody};
use abide_host::Home;
use rusqlite::{Connection, OpenFlags};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// A record's seq and kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerLine {
    pub seq: Seq,
    pub id: RecordId,
    pub conversation: ConversationId,
    pub task: Option<TaskId>,
    pub kind: String,
    /// JSON.
    pub body: String,
}

/// All records, in order.
///
/// # Panics
/// The database cannot be read.
#[must_use]
pub fn read(home: &Home) -> Vec<LedgerLine> {
    between(&home.database(), Seq(0), Seq(u64::MAX))
}

/// Gives each record the checksum of what it says now.
///
/// # Panics
/// The records cannot be read or written.
pub fn reseal(database: &Connection) {
    let columns = "SELECT seq, id, conversation, task, at, kind, version, body FROM records";
    let mut statement = database.prepare(columns).expect("the database has records");
    let mut rows = statement.query([]).expect("the records can be read");
    while let Some(row) = rows.next().expect("the records can be read") {
        let record = || -> rusqlite::Result<(i64, Vec<u8>)> {
            let (seq, at): (i64, i64) = (row.get(0)?, row.get(4)?);
            let mut bytes = seq.to_le_bytes().to_vec();
            for id in 1..=3 {
                bytes.extend(row.get::<_, Option<Vec<u8>>>(id)?.unwrap_or_default());
            }
            bytes.extend(at.to_le_bytes());
            bytes.extend(row.get::<_, u32>(6)?.to_le_bytes());
            let kind: String = row.get(5)?;
            bytes.extend((kind.len() as u64).to_le_bytes());
            bytes.extend(kind.bytes());
            bytes.extend(row.get::<_, String>(7)?.bytes());
            Ok((seq, bytes))
        };
        let (seq, bytes) = record().expect("a record can be read");
        let sealed = (seq, crc32fast::hash(&bytes));
        let sql = "UPDATE records SET checksum = ?2 WHERE seq = ?1";
        database.execute(sql, sealed).expect("a record can be written");
    }
}

/// The records after `from`, up to and including `to`, of the database at `path`.
///
/// # Panics
/// The database cannot be read.
#[must_use]
pub fn between(path: &Path, from: Seq, to: Seq) -> Vec<LedgerLine> {
    let database = open(path);
    let mut query = database
        .prepare("SELECT seq, id, conversation, task, kind, body FROM records WHERE seq > ?1 AND seq <= ?2 ORDER BY seq")
        .expect("the database has records");
    let lines = query.query_map([signed(from), signed(to)], |row| {
        let seq: i64 = row.get(0)?;
        Ok(LedgerLine {
            seq: Seq(seq.unsigned_abs()),
            id: RecordId(row.get(1)?),
            conversation: ConversationId(row.get(2)?),
            task: row.get::<_, Option<uuid::Uuid>>(3)?.map(TaskId),
            kind: row.get(4)?,
            body: row.get(5)?,
        })
    });
    lines.expect("the records can be read").map(|line| line.expect("a record can be read")).collect()
}

/// The tasks, at any depth, with work under way: a model call, a tool, or one about to start.
///
/// # Panics
/// The database cannot be read.
#[must_use]
pub fn at_work(path: &Path) -> BTreeSet<TaskId> {
    let database = open(path);
    let mut query = database
        .prepare("SELECT id FROM tasks WHERE status IN ('running', 'thinking', 'tool_executing')")
        .expect("the database has tasks");
    let found = query.query_map([], |row| Ok(TaskId(row.get(0)?)));
    found.expect("the tasks can be read").map(|id| id.expect("a task can be read")).collect()
}

/// The tasks that a daemon, started after that record, found unfinished.
///
/// # Panics
/// The database cannot be read.
#[must_use]
pub fn restarted(path: &Path, after: Seq) -> BTreeSet<TaskId> {
    let database = open(path);
    let mut query = database
        .prepare("SELECT task FROM records WHERE seq > ?1 AND kind = 'restarted'")
        .expect("the database has records");
    let found = query.query_map([signed(after)], |row| Ok(TaskId(row.get(0)?)));
    found.expect("the records can be read").map(|id| id.expect("a record can be read")).collect()
}

/// The seq of the last record; 0 if there is none.
///
/// # Panics
/// The database cannot be read.
#[must_use]
pub fn last(path: &Path) -> Seq {
    let last =
        open(path).query_row("SELECT coalesce(max(seq), 0) FROM records", [], |row| row.get::<_, i64>(0));
    Seq(last.expect("the records can be counted").unsigned_abs())
}

/// A copy of a stopped daemon's database with its WAL: opening the database itself would begin its recovery.
///
/// # Panics
/// It cannot be copied.
#[must_use]
pub fn copy(home: &Home, folder: &Path) -> PathBuf {
    let database = home.database();
    for suffix in ["", "-wal"] {
        let name = format!("abide.db{suffix}");
        let from = database.with_file_name(&name);
        if from.exists() {
            fs::copy(&from, folder.join(&name)).expect("the database can be copied");
        }
    }
    folder.join("abide.db")
}

impl LedgerLine {
    /// The decoded record.
    ///
    /// # Panics
    /// It cannot be decoded.
    #[must_use]
    pub fn record(&self) -> RecordBody {
        serde_json::from_str(&format!(r#"{{"{}":{}}}"#, self.kind, self.body)).expect("a record's body")
    }
}

fn signed(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

fn open(path: &Path) -> Connection {
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .expect("the database can be opened");
    database.busy_timeout(crate::wait::limit()).expect("a timeout can be set");
    database
}

/// The records of one conversation, in order.
#[must_use]
pub fn of(home: &Home, conversation: ConversationId) -> Vec<LedgerLine> {
    read(home).into_iter().filter(|line| line.conversation == conversation).collect()
}
