//! The rows of the index, and which records it has.

use super::{
    Chunk,
    chunk::{self, FORM, Needed},
    chunk_id, of_chunk_id,
    said::{said, said_at},
};
use crate::{
    column::{Word, seq, seq_to_sql},
    error::ReadError,
    hidden::HIDDEN,
    ledger::Fault,
    query::{COLUMNS, each_record, record},
};
use abide_protocol::{
    ConversationId, Seq,
    record::{Record, RecordBody},
};
use rusqlite::{Connection, OptionalExtension as _, params};

/// The most chunks that are taken out one by one; see [`remove`].
const FEW: i64 = 100;
/// The most replies without words that are looked through for one with words.
const REPLIES: i64 = 16;

/// The seq up to which records have their chunks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) remembered_to: Seq,
    pub(crate) newest: Seq,
}

/// How far the index is. One that was filled in another form counts as empty.
pub(crate) fn progress(connection: &Connection) -> rusqlite::Result<Progress> {
    connection
        .prepare_cached(
            "SELECT iif(p.form = ?1, p.seq, 0), (SELECT coalesce(max(seq), 0) FROM records) FROM memory_progress p",
        )?
        .query_row([FORM], |row| Ok(Progress { remembered_to: seq(row, 0)?, newest: seq(row, 1)? }))
}

/// Calls a function with each record that may give chunks, after one seq up to another, in order. A record
/// that cannot be read gives none. Breaks on `false`.
pub(crate) fn each_chunked(
    connection: &Connection,
    after: Seq,
    to: Seq,
    mut see: impl FnMut(Record) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    let pruned_to = pruned_to(connection, "memory_pruned")?;
    let kinds = chunk::KINDS.join("', '");
    let sql = format!(
        "SELECT {COLUMNS} FROM records WHERE seq > ?1 AND seq <= ?2 AND kind IN ('{kinds}')
         AND conversation NOT IN (SELECT id FROM conversations WHERE memory = 'private')
         AND seq NOT IN (SELECT seq FROM forgotten)
         AND (kind IN ('noted', 'note_added') OR seq > ?3)
         ORDER BY seq"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([after, to, pruned_to].map(seq_to_sql))?;
    while let Some(row) = rows.next()? {
        let goes_on = match said(row) {
            Ok(record) => see(record)?,
            Err(ReadError::Record { .. }) => true,
            Err(error) => return Err(error.into()),
        };
        if !goes_on {
            break;
        }
    }
    Ok(())
}

/// A chunk with its record. `None`: the record cannot be read.
pub(crate) fn chunk(connection: &Connection, id: i64) -> Result<Option<(Record, Chunk)>, ReadError> {
    let (seq, part) = of_chunk_id(id);
    let record = match said_at(connection, seq) {
        Ok(Some(record)) => record,
        Ok(None) | Err(ReadError::Record { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut chunks = chunks_at(connection, &record)?;
    let part = usize::try_from(part).unwrap_or(usize::MAX);
    Ok((part < chunks.len()).then(|| (record, chunks.swap_remove(part))))
}

/// The chunks of a record. They quote nothing that is forgotten.
pub(crate) fn chunks_at(connection: &Connection, record: &Record) -> Result<Vec<Chunk>, ReadError> {
    let mut needed = needed_by(connection, record)?;
    if let Some(quoted) = &needed
        && is_forgotten(connection, quoted.seq)?
    {
        needed = None;
    }
    Ok(chunk::chunks(&record.body, needed.as_ref().map(|needed| &needed.body)))
}

/// The earlier record that a record's chunks need.
pub(super) fn needed_by(connection: &Connection, record: &Record) -> Result<Option<Record>, ReadError> {
    let needed = chunk::needed(&record.body).map(|what| needed(connection, record, what)).transpose()?;
    Ok(needed.flatten())
}

/// The earlier record that a record's chunks need. One that cannot be read counts as missing.
fn needed(connection: &Connection, of: &Record, what: Needed) -> Result<Option<Record>, ReadError> {
    let before = |kinds: &str, condition: &str| {
        let sql = format!(
            "SELECT {COLUMNS} FROM records WHERE conversation = ?1 AND seq < ?2 AND kind IN ({kinds}) {condition}
             ORDER BY seq DESC LIMIT {REPLIES}"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params![of.conversation_id.0, seq_to_sql(of.seq)])?;
        while let Some(row) = rows.next()? {
            match record(row) {
                Ok(found) if is_it(&found, of, what) => return Ok(Some(found)),
                Ok(_) | Err(ReadError::Record { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    };
    match what {
        Needed::Reply => before("'reply', 'agent_message', 'update'", ""),
        Needed::Request => before("'user_message', 'intervened'", ""),
        Needed::Question(_) => before("'question_asked'", ""),
        Needed::Call(call) => {
            let sql =
                format!("SELECT {COLUMNS} FROM records WHERE seq = (SELECT seq FROM calls WHERE id = ?1)");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query([call.0])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            match record(row) {
                Ok(found) => Ok(Some(found)),
                Err(ReadError::Record { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        }
    }
}

fn is_it(found: &Record, of: &Record, what: Needed) -> bool {
    match what {
        Needed::Reply => chunk::words(&found.body).is_some(),
        Needed::Request => found.task_id == of.task_id && chunk::words(&found.body).is_some(),
        Needed::Question(id) => matches!(&found.body, RecordBody::QuestionAsked(asked) if asked.id == id),
        Needed::Call(_) => true,
    }
}

/// Puts a record's chunks into the index, unless they are there. Returns their size in bytes.
pub(crate) fn insert(connection: &Connection, record: &Record) -> Result<usize, Fault> {
    let mut bytes = 0;
    for (part, chunk) in (0..).zip(chunks_at(connection, record)?) {
        let id = chunk_id(record.seq, part);
        let is_new = connection
            .prepare_cached("INSERT OR IGNORE INTO chunks (id, conversation, source) VALUES (?1, ?2, ?3)")?
            .execute(params![id, record.conversation_id.0, Word(chunk.source)])?
            > 0;
        if is_new {
            let indexed = chunk.indexed();
            connection
                .prepare_cached("INSERT INTO memory_words (rowid, text) VALUES (?1, ?2)")?
                .execute(params![id, indexed])?;
            bytes += indexed.len();
        }
    }
    Ok(bytes)
}

/// Empties an index that was filled in another form.
pub(crate) fn empty_old_form(connection: &Connection) -> Result<(), Fault> {
    let is_old =
        connection.prepare_cached("SELECT 1 FROM memory_progress WHERE form <> ?1")?.exists([FORM])?;
    if is_old { empty(connection) } else { Ok(()) }
}

/// Takes the chunks of a conversation out of the index.
///
/// Taking one out takes about a millisecond, because deleted content is overwritten. With more than a few the
/// whole index is emptied instead, and fills again when something is recalled. The same happens if a record is
/// damaged, because the words of its chunks are unknown.
pub(crate) fn remove(connection: &Connection, id: ConversationId) -> Result<(), Fault> {
    let count = "SELECT count(*) FROM (SELECT 1 FROM chunks WHERE conversation = ?1 LIMIT ?2)";
    let chunks: i64 =
        connection.prepare_cached(count)?.query_row(params![id.0, FEW + 1], |row| row.get(0))?;
    if chunks == 0 {
        return Ok(());
    }
    let is_current =
        connection.prepare_cached("SELECT 1 FROM memory_progress WHERE form = ?1")?.exists([FORM])?;
    if chunks > FEW || !is_current || !remove_each(connection, id)? {
        empty(connection)?;
    }
    Ok(())
}

/// Takes the chunks out one by one. `false`: a record cannot be read.
fn remove_each(connection: &Connection, id: ConversationId) -> Result<bool, Fault> {
    let read = each_record::<ReadError>(connection, id, |record| remove_record(connection, &record));
    match read {
        Ok(()) => {}
        Err(ReadError::Record { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    // A record may give fewer chunks than it gave, if an earlier one cannot be read any more.
    let is_left =
        connection.prepare_cached("SELECT 1 FROM chunks WHERE conversation = ?1")?.exists([id.0])?;
    Ok(!is_left)
}

/// Takes a record's chunks out, those that are there.
pub(crate) fn remove_record(connection: &Connection, record: &Record) -> Result<(), ReadError> {
    for (part, chunk) in (0..).zip(chunks_at(connection, record)?) {
        let id = chunk_id(record.seq, part);
        let was_there = connection.prepare_cached("DELETE FROM chunks WHERE id = ?1")?.execute([id])? > 0;
        if was_there {
            // FTS5 needs the indexed text to remove it.
            connection
                .prepare_cached(
                    "INSERT INTO memory_words (memory_words, rowid, text) VALUES ('delete', ?1, ?2)",
                )?
                .execute(params![id, chunk.indexed()])?;
        }
    }
    Ok(())
}

pub(crate) fn empty(connection: &Connection) -> Result<(), Fault> {
    connection.execute_batch(
        "INSERT INTO memory_words (memory_words) VALUES ('delete-all'); DELETE FROM chunks;
         UPDATE memory_progress SET seq = 0;",
    )?;
    connection.execute("UPDATE memory_progress SET form = ?1", [FORM])?;
    Ok(())
}

/// Whether a person has taken this record out of the memory.
pub(crate) fn is_forgotten(connection: &Connection, seq: Seq) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM forgotten WHERE seq = ?1")?.exists([seq_to_sql(seq)])
}

/// The record up to which a person has pruned, by hidden records of this kind.
pub(crate) fn pruned_to(connection: &Connection, kind: &str) -> rusqlite::Result<Seq> {
    connection
        .prepare_cached(
            "SELECT coalesce(max(body ->> '$.to'), 0) FROM records WHERE conversation = ?1 AND kind = ?2",
        )?
        .query_row(params![HIDDEN.0, kind], |row| seq(row, 0))
}

/// Lets the index look again at the records from a conversation's first one on.
pub(crate) fn look_again(connection: &Connection, id: ConversationId) -> Result<(), Fault> {
    let first: Option<Option<i64>> = connection
        .prepare_cached("SELECT min(seq) FROM records WHERE conversation = ?1")?
        .query_row([id.0], |row| row.get(0))
        .optional()?;
    if let Some(Some(first)) = first {
        connection.prepare_cached("UPDATE memory_progress SET seq = min(seq, ?1)")?.execute([first - 1])?;
    }
    Ok(())
}
