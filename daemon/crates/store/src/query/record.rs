//! Reads records.

use crate::{
    Store,
    checksum::Columns,
    column::{seq, seq_to_sql},
    error::{ReadError, Unreadable},
    feed::Feed,
    hidden::{HIDDEN, HiddenBody},
    high_water::newest,
    ledger::Fault,
    stored_form,
};
use abide_protocol::{ConversationId, RecordId, Seq, TaskId, Timestamp, record::Record};
use rusqlite::{Connection, Row, ToSql, params};

/// The columns that [`record`] reads.
pub(crate) const COLUMNS: &str = "seq, id, conversation, task, at, kind, version, body, checksum";

/// Reads a row of [`COLUMNS`] and verifies its checksum.
pub(crate) fn columns<'a>(row: &'a Row<'_>) -> Result<Columns<'a>, ReadError> {
    let text = |index| row.get_ref(index)?.as_str().map_err(rusqlite::Error::from);
    let columns = Columns {
        seq: seq(row, 0)?,
        id: row.get(1)?,
        conversation: row.get(2)?,
        task: row.get(3)?,
        at: row.get(4)?,
        kind: text(5)?,
        version: row.get(6)?,
        body: text(7)?,
    };
    if row.get::<_, u32>(8)? != columns.checksum() {
        return Err(ReadError::Record {
            seq: columns.seq,
            kind: columns.kind.to_owned(),
            reason: Unreadable::Checksum,
        });
    }
    Ok(columns)
}

/// Reads a record of a conversation from a row of [`COLUMNS`].
pub(crate) fn record(row: &Row<'_>) -> Result<Record, ReadError> {
    let Columns { seq, id, conversation, task, at, kind, version, body } = columns(row)?;
    Ok(Record {
        seq,
        id: RecordId(id),
        conversation_id: ConversationId(conversation),
        task_id: task.map(TaskId),
        at: Timestamp(at),
        body: stored_form::read(seq, kind, version, body)?,
    })
}

/// Verifies all records. Returns the errors of at most `limit` damaged ones.
pub(crate) fn changed_records(connection: &Connection, limit: usize) -> Result<Vec<String>, ReadError> {
    let mut statement = connection.prepare(&format!("SELECT {COLUMNS} FROM records"))?;
    let mut rows = statement.query([])?;
    let mut changed = Vec::new();
    while changed.len() < limit
        && let Some(row) = rows.next()?
    {
        match columns(row) {
            Err(error @ ReadError::Record { .. }) => changed.push(error.to_string()),
            read => drop(read?),
        }
    }
    Ok(changed)
}

pub(super) fn records(
    connection: &Connection,
    sql: &str,
    params: &[&dyn ToSql],
) -> Result<Vec<Record>, ReadError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        records.push(record(row)?);
    }
    Ok(records)
}

/// The record at this seq, if there is one.
pub(crate) fn record_at(connection: &Connection, seq: Seq) -> Result<Option<Record>, ReadError> {
    let sql = format!("SELECT {COLUMNS} FROM records WHERE seq = ?1");
    Ok(records(connection, &sql, params![seq_to_sql(seq)])?.pop())
}

/// Passes all records of a conversation to `see`, in order.
pub(crate) fn each_record<E: From<ReadError>>(
    connection: &Connection,
    id: ConversationId,
    mut see: impl FnMut(Record) -> Result<(), E>,
) -> Result<(), E> {
    let sql = format!("SELECT {COLUMNS} FROM records WHERE conversation = ?1 ORDER BY seq");
    let mut statement = connection.prepare_cached(&sql).map_err(ReadError::from)?;
    let mut rows = statement.query([id.0]).map_err(ReadError::from)?;
    while let Some(row) = rows.next().map_err(ReadError::from)? {
        see(record(row)?)?;
    }
    Ok(())
}

/// Passes all records of the hidden conversation to `see`, in order.
pub(crate) fn each_hidden(
    connection: &Connection,
    mut see: impl FnMut(Seq, HiddenBody) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let sql = format!("SELECT {COLUMNS} FROM records WHERE conversation = ?1 ORDER BY seq");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([HIDDEN.0])?;
    while let Some(row) = rows.next()? {
        let Columns { seq, kind, version, body, .. } = columns(row)?;
        see(seq, stored_form::read(seq, kind, version, body)?)?;
    }
    Ok(())
}

impl Store {
    /// All records of a conversation, in order.
    pub async fn conversation_records(&self, id: ConversationId) -> Result<Vec<Record>, ReadError> {
        self.read(move |connection| {
            let mut records = Vec::new();
            each_record(connection, id, |record| {
                records.push(record);
                Ok::<_, ReadError>(())
            })?;
            Ok(records)
        })
        .await
    }

    /// At most `limit` records of a feed after `after`, in order, without the hidden conversation.
    pub async fn records_after(&self, feed: Feed, after: Seq, limit: u32) -> Result<Vec<Record>, ReadError> {
        if feed == Feed::Overview {
            return Ok(Vec::new());
        }
        self.read(move |connection| {
            let (condition, of) = feed.sql();
            let sql = format!(
                "SELECT {COLUMNS} FROM records WHERE {condition} AND conversation <> ?4 AND seq > ?2 ORDER BY seq LIMIT ?3"
            );
            records(connection, &sql, params![of, seq_to_sql(after), limit, HIDDEN.0])
        })
        .await
    }

    /// The newest record of this kind in a conversation for which `is_it` holds.
    pub async fn newest_record(
        &self,
        id: ConversationId,
        kind: &'static str,
        is_it: impl Fn(&Record) -> bool + Clone + Send + 'static,
    ) -> Result<Option<Record>, ReadError> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM records WHERE conversation = ?1 AND kind = ?2 ORDER BY seq DESC"
            ))?;
            let mut rows = statement.query(params![id.0, kind])?;
            while let Some(row) = rows.next()? {
                let found = record(row)?;
                if is_it(&found) {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        })
        .await
    }

    /// The seq of the newest record.
    pub async fn newest(&self) -> Result<Seq, ReadError> {
        self.read(|connection| Ok(newest(connection)?)).await
    }

    /// All conversations that were created and not deleted.
    pub async fn recorded_conversations(&self) -> Result<Vec<ConversationId>, ReadError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT conversation FROM records WHERE kind = 'conversation_created' ORDER BY seq",
            )?;
            let ids = statement.query_map([], |row| row.get(0).map(ConversationId))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
        .await
    }
}
