//! Makes a database anew from its records, because a projection or an index is damaged. The records are the
//! truth: a database whose records can all be read loses nothing. [`Store::salvage`] takes the readable
//! records of any other database.

mod graft;

use crate::{
    Store,
    backup::Existing,
    checksum::Columns,
    committed::TaskProjection,
    disk::{beside, create_private, sync_folder},
    error::{OpenError, ReadError},
    hidden::HIDDEN,
    high_water::newest,
    ledger::{Fault, Ledger, Totals, insert_record},
    migrate,
    open::{connect, connect_lenient},
    query::{self, each_record},
    stored_form::Stored,
    work::{Rebuild, RebuildRules, Work as _},
};
use abide_protocol::{
    ConversationId, Seq,
    memory::MemoryUse,
    record::{ConversationCreated, Record, RecordBody},
};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Row, backup::Backup, params};
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use tokio::sync::oneshot;
use uuid::Uuid;

/// The engine's function from a conversation's records to its tasks.
pub type Projector = fn(ConversationId, &[Record]) -> Vec<TaskProjection>;

/// How far behind the last readable record another one is looked for, in seqs.
const FARTHEST: i64 = 1 << 32;

/// What a salvage has read and what it could not read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Salvaged {
    pub conversations: u64,
    pub records: u64,
    /// Records that exist, but not as they were stored.
    pub changed: u64,
    /// Ranges of seqs, first and last, in which nothing could be read. A range may hold seqs that were never
    /// used.
    pub gaps: Vec<(Seq, Seq)>,
    /// Conversations whose first record is lost. A title says so.
    pub without_beginning: u64,
    /// Conversations that have lost too much to be continued or shown. Their records are left out.
    pub left_out: u64,
}

/// Why a database was not made anew. The database is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum RenewError {
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{} exists already", path.display())]
    Exists { path: PathBuf },
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("what follows from the records cannot be made: {0}")]
    Derive(String),
}

impl RenewError {
    /// A record cannot be read.
    pub(crate) fn is_of_records(&self) -> bool {
        match self {
            Self::Read(_) => true,
            Self::Sqlite(error) => error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt),
            Self::File { .. } | Self::Exists { .. } | Self::Open(_) | Self::Derive(_) => false,
        }
    }
}

impl From<Fault> for RenewError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Sqlite(error) => Self::Sqlite(error),
            Fault::Refused(error) => Self::Derive(format!("{error:?}")),
        }
    }
}

/// What becomes of records that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unreadable {
    Refuse,
    LeaveOut,
}

/// Replaces the whole database by one made from its records, in one transaction. Readers see the new database
/// next. Read marks are kept as far as they can be read.
pub(crate) fn renew(path: &Path, connection: &mut Connection, project: Projector) -> Result<(), RenewError> {
    let made = beside(path, "-renewed");
    let renewed = (|| {
        let source = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let fresh = create(&made)?;
        fill(&fresh, &source, Unreadable::Refuse, project)?;
        drop(source);
        Backup::new(&fresh, connection)?.step(-1)?;
        Ok(())
    })();
    let _ = fs::remove_file(&made);
    renewed
}

fn create(path: &Path) -> Result<Connection, RenewError> {
    create_private(path).map_err(|source| RenewError::File { path: path.to_owned(), source })?;
    let mut fresh = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    migrate::run(&mut fresh, path, 0)?;
    Ok(fresh)
}

/// Fills a new database, in one transaction.
fn fill(
    fresh: &Connection,
    source: &Connection,
    unreadable: Unreadable,
    project: Projector,
) -> Result<Salvaged, RenewError> {
    fresh.execute_batch("BEGIN")?;
    let mut salvaged = Salvaged::default();
    match unreadable {
        Unreadable::Refuse => copy_all(fresh, source, &mut salvaged)?,
        Unreadable::LeaveOut => {
            copy_readable(fresh, source, &mut salvaged)?;
            begin_again(fresh, &mut salvaged)?;
        }
    }
    // Read marks are derived from nothing, and losing them is no loss.
    let _ = copy_read_marks(fresh, source);
    let mut totals = Totals { open_items: 0, newest: newest(fresh)? };
    let mut ledger = Ledger { connection: fresh, totals: &mut totals };
    for id in conversations(fresh)? {
        match derive(&mut ledger, id, project) {
            Ok(()) => salvaged.conversations += 1,
            Err(error) if unreadable == Unreadable::LeaveOut => {
                tracing::warn!(conversation = %id, %error, "a conversation is left out");
                let left = fresh.execute("DELETE FROM records WHERE conversation = ?1", [id.0])?;
                salvaged.records -= left as u64;
                salvaged.left_out += 1;
            }
            Err(error) => return Err(error),
        }
    }
    RebuildRules::new(oneshot::channel().0).apply(&mut ledger)?;
    fresh.execute_batch("COMMIT")?;
    Ok(salvaged)
}

/// Derives a conversation's rows, all or none.
fn derive(ledger: &mut Ledger<'_>, id: ConversationId, project: Projector) -> Result<(), RenewError> {
    let connection = ledger.connection;
    connection.execute_batch("SAVEPOINT derived")?;
    let derived = (|| {
        let mut records = Vec::new();
        each_record(connection, id, |record| {
            records.push(record);
            Ok::<_, ReadError>(())
        })?;
        let tasks = project(id, &records);
        Rebuild::new(id, tasks, oneshot::channel().0).apply(ledger)?;
        Ok(())
    })();
    if derived.is_err() {
        connection.execute_batch("ROLLBACK TO derived")?;
    }
    connection.execute_batch("RELEASE derived")?;
    derived
}

fn conversations(connection: &Connection) -> rusqlite::Result<Vec<ConversationId>> {
    let sql = "SELECT conversation FROM records WHERE kind = 'conversation_created' ORDER BY seq";
    let mut statement = connection.prepare(sql)?;
    statement.query_map([], |row| row.get(0).map(ConversationId))?.collect()
}

/// `NOT INDEXED`: an index may be what is damaged.
fn select(condition: &str) -> String {
    format!("SELECT {} FROM records NOT INDEXED WHERE {condition} ORDER BY seq", query::COLUMNS)
}

fn copy_all(fresh: &Connection, source: &Connection, salvaged: &mut Salvaged) -> Result<(), RenewError> {
    let mut statement = source.prepare(&select("1"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        insert_record(fresh, &query::columns(row)?)?;
        salvaged.records += 1;
    }
    Ok(())
}

/// Copies each record that can be read and has the right checksum.
fn copy_readable(fresh: &Connection, source: &Connection, salvaged: &mut Salvaged) -> Result<(), RenewError> {
    let mut after = 0;
    loop {
        let mut statement = source.prepare(&select("seq > ?1"))?;
        let mut rows = statement.query([after])?;
        loop {
            match rows.next() {
                Ok(None) => return Ok(()),
                Ok(Some(row)) => {
                    after = row.get(0)?;
                    match query::columns(row) {
                        Ok(columns) => {
                            insert_record(fresh, &columns)?;
                            salvaged.records += 1;
                        }
                        Err(_) => salvaged.changed += 1,
                    }
                }
                Err(_) => break,
            }
        }
        let Some(next) = next_readable(source, after) else {
            salvaged.gaps.push((Seq(after.cast_unsigned() + 1), Seq(i64::MAX.cast_unsigned())));
            return Ok(());
        };
        salvaged.gaps.push((Seq(after.cast_unsigned() + 1), Seq(next.cast_unsigned())));
        after = next;
    }
}

/// The smallest seq behind `after` from which reading works again, or the table ends. `None`: no
/// such seq is found.
fn next_readable(source: &Connection, after: i64) -> Option<i64> {
    let can_read = |from: i64| {
        let row =
            |row: &Row<'_>| query::columns(row).map(drop).map_err(|_| rusqlite::Error::QueryReturnedNoRows);
        let sql = format!("{} LIMIT 1", select("seq > ?1"));
        matches!(
            source.prepare_cached(&sql).and_then(|mut s| s.query_row([from], row)),
            Ok(()) | Err(rusqlite::Error::QueryReturnedNoRows)
        )
    };
    let mut step = 1;
    while !can_read(after.saturating_add(step)) {
        step *= 2;
        if step > FARTHEST {
            return None;
        }
    }
    let (mut bad, mut good) = (after + step / 2, after + step);
    while good - bad > 1 {
        let middle = bad + (good - bad) / 2;
        if can_read(middle) { good = middle } else { bad = middle }
    }
    Some(good)
}

fn copy_read_marks(fresh: &Connection, source: &Connection) -> rusqlite::Result<()> {
    let mut statement = source.prepare("SELECT conversation, seq FROM read_marks")?;
    let mut rows = statement.query([])?;
    let mut insert = fresh.prepare("INSERT OR IGNORE INTO read_marks (conversation, seq) VALUES (?1, ?2)")?;
    while let Some(row) = rows.next()? {
        insert.execute(params![row.get::<_, Uuid>(0)?, row.get::<_, i64>(1)?])?;
    }
    Ok(())
}

/// Gives each conversation whose first record is lost a new first record, at a free seq before its oldest
/// record.
fn begin_again(fresh: &Connection, salvaged: &mut Salvaged) -> Result<(), RenewError> {
    let headless =
        "SELECT conversation, min(seq), min(at) FROM records WHERE conversation <> ?1 GROUP BY conversation
                    HAVING sum(kind IN ('conversation_created', 'conversation_deleted')) = 0";
    let mut statement = fresh.prepare(headless)?;
    let found: Vec<(Uuid, i64, i64)> = statement
        .query_map([HIDDEN.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    for (conversation, oldest, at) in found {
        let free = "SELECT seq - 1 FROM records r WHERE seq <= ?1 AND seq > 1
                    AND NOT EXISTS (SELECT 1 FROM records WHERE seq = r.seq - 1) ORDER BY seq DESC LIMIT 1";
        let free: Option<i64> = fresh.query_row(free, [oldest], |row| row.get(0)).optional()?;
        let Some(seq) = free else { continue };
        let mut workspace = String::new();
        each_record(fresh, ConversationId(conversation), |record| {
            if let RecordBody::TaskStarted(head) = &record.body
                && workspace.is_empty()
            {
                workspace.clone_from(&head.workspace);
            }
            Ok::<_, ReadError>(())
        })?;
        let body = RecordBody::ConversationCreated(ConversationCreated {
            title: "Salvaged conversation without its beginning".to_owned(),
            workspace: if workspace.is_empty() { "/".to_owned() } else { workspace },
            mode: None,
            model: None,
            persona: None,
            // It may have begun as a private one.
            memory: MemoryUse::Private,
        });
        let stored = Stored::of(&body).map_err(|error| RenewError::Derive(error.to_string()))?;
        let columns = Columns {
            seq: Seq(seq.cast_unsigned()),
            id: fresh.query_row("SELECT randomblob(16)", [], |row| row.get(0))?,
            conversation,
            task: None,
            at,
            kind: stored.kind,
            version: stored.version,
            body: stored.body(),
        };
        insert_record(fresh, &columns)?;
        salvaged.without_beginning += 1;
    }
    Ok(())
}

impl Store {
    /// Writes what can be read of a damaged or cut-off database to a new database at `to`, which can be put
    /// in its place. The damaged files are only copied. No store may have the files open. Blocks.
    ///
    /// # Errors
    /// Nothing can be read, or the new database cannot be written. Then no new database exists.
    pub fn salvage(
        path: &Path,
        to: &Path,
        existing: Existing,
        project: Projector,
    ) -> Result<Salvaged, RenewError> {
        let failed = |source| RenewError::File { path: to.to_owned(), source };
        if existing == Existing::Keep && to.exists() {
            return Err(RenewError::Exists { path: to.to_owned() });
        }
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let scratch =
            tempfile::Builder::new().prefix(".abide-salvage-").tempdir_in(folder).map_err(failed)?;
        let copy = scratch.path().join("damaged.db");
        let copied = |from: &Path, to: &Path| {
            fs::copy(from, to).map_err(|source| RenewError::File { path: from.to_owned(), source })
        };
        copied(path, &copy)?;
        let log = beside(path, "-wal");
        if log.exists() {
            copied(&log, &beside(&copy, "-wal"))?;
        }
        let mut source = connect_lenient(&copy)?;
        migrate::identify(&source, path)?;
        if source.prepare(&select("1")).is_err() {
            // The log's content goes into the copy, as far as it can be read.
            let _ = source.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
            drop(source);
            let _ = fs::remove_file(beside(&copy, "-wal"));
            graft::schema(&copy, scratch.path())?;
            source = connect_lenient(&copy)?;
        }
        let made = scratch.path().join("salvaged.db");
        let fresh = create(&made)?;
        let salvaged = fill(&fresh, &source, Unreadable::LeaveOut, project)?;
        fresh.close().map_err(|(_, error)| error)?;
        fs::File::open(&made).and_then(|file| file.sync_all()).map_err(failed)?;
        fs::rename(&made, to).and_then(|()| sync_folder(folder)).map_err(failed)?;
        Ok(salvaged)
    }
}
