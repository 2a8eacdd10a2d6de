//! Write access within a transaction, and the errors of work in it.

use crate::{
    checksum::Columns,
    column::seq_to_sql,
    committed::ClientMessageUse,
    error::{AppendError, ReadError, WriteError},
    room::Room,
    stored_form::{Body, Stored},
    writer::Severity,
};
use abide_protocol::{ConversationId, RecordId, Seq, TaskId, Timestamp, record::Record};
use rusqlite::{Connection, ffi, params};

/// Write access within a transaction.
pub(crate) struct Ledger<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) totals: &'a mut Totals,
}

/// Totals over the whole database, kept in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Totals {
    /// Open questions and approvals of all tasks.
    pub(crate) open_items: u64,
    /// The seq of the newest record.
    pub(crate) newest: Seq,
}

impl Ledger<'_> {
    /// Appends a record, which gets the next seq.
    pub(crate) fn append(&mut self, record: &mut Record) -> Result<(), Fault> {
        let Record { id, conversation_id, task_id, at, .. } = *record;
        record.seq = self.append_body(id, conversation_id, task_id, at, &record.body)?;
        Ok(())
    }

    /// Appends a record with this body. Returns its seq.
    pub(crate) fn append_body(
        &mut self,
        id: RecordId,
        conversation: ConversationId,
        task: Option<TaskId>,
        at: Timestamp,
        body: &impl Body,
    ) -> Result<Seq, Fault> {
        let seq = Seq(self.totals.newest.0 + 1);
        let stored = Stored::of(body)?;
        let columns = Columns {
            seq,
            id: id.0,
            conversation: conversation.0,
            task: task.map(|id| id.0),
            at: at.0,
            kind: stored.kind,
            version: stored.version,
            body: stored.body(),
        };
        insert_record(self.connection, &columns)?;
        self.totals.newest = seq;
        Ok(seq)
    }
}

/// Inserts a row of the records.
pub(crate) fn insert_record(connection: &Connection, columns: &Columns<'_>) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO records (seq, id, conversation, task, at, kind, version, body, checksum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            seq_to_sql(columns.seq),
            columns.id,
            columns.conversation,
            columns.task,
            columns.at,
            columns.kind,
            columns.version,
            columns.body,
            columns.checksum(),
        ])
        .map(drop)
}

/// Why a piece of work failed in its transaction.
#[derive(Debug)]
pub(crate) enum Fault {
    Refused(WorkError),
    Sqlite(rusqlite::Error),
}

/// The error that the caller gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkError {
    Duplicate(ClientMessageUse),
    /// Another request has used the same id.
    TaskIdUsed(TaskId),
    Gone(ConversationId),
    Invalid(String),
    Full(Room),
    /// Nobody wants the work any more.
    Withdrawn,
    Broken(String),
    Closed,
}

impl Fault {
    /// An error of a statement on the search index means that the index is damaged.
    pub(crate) fn of_index(self) -> Self {
        match self {
            Self::Sqlite(error) if Severity::of(&error) == Severity::Statement => {
                let code = ffi::Error::new(ffi::SQLITE_CORRUPT_VTAB);
                Self::Sqlite(rusqlite::Error::SqliteFailure(code, Some(error.to_string())))
            }
            other => other,
        }
    }
}

impl From<WorkError> for Fault {
    fn from(error: WorkError) -> Self {
        Self::Refused(error)
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::Refused(WorkError::Invalid(error.to_string()))
    }
}

impl From<ReadError> for Fault {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Sqlite(error) => Self::Sqlite(error),
            other => Self::Refused(WorkError::Invalid(other.to_string())),
        }
    }
}

impl From<WorkError> for AppendError {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Duplicate(first) => Self::DuplicateClientMessage(first),
            WorkError::TaskIdUsed(task) => Self::DuplicateTaskId(task),
            WorkError::Gone(id) => Self::ConversationGone(id),
            WorkError::Invalid(reason) => Self::Invalid { reason },
            WorkError::Full(room) => Self::Full(room),
            WorkError::Withdrawn => Self::Withdrawn,
            WorkError::Broken(reason) => Self::Failed { reason },
            WorkError::Closed => Self::Closed,
        }
    }
}

impl From<WorkError> for WriteError {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Duplicate(first) => Self::Invalid {
                reason: format!("the client message id was already used, for task {}", first.task_id),
            },
            WorkError::TaskIdUsed(task) => {
                Self::Invalid { reason: format!("the id of task {task} was already used") }
            }
            WorkError::Gone(id) => Self::ConversationGone(id),
            WorkError::Invalid(reason) => Self::Invalid { reason },
            WorkError::Full(room) => Self::Full(room),
            WorkError::Withdrawn => Self::Invalid { reason: "it was withdrawn".to_owned() },
            WorkError::Broken(reason) => Self::Failed { reason },
            WorkError::Closed => Self::Closed,
        }
    }
}
