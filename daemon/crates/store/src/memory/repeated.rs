//! Which other records have the words of one.

use super::{PARTS, chunk, chunk_id, index::needed_by, of_chunk_id, said_at};
use crate::{
    column::seq_to_sql,
    error::ReadError,
    query::{COLUMNS, record},
};
use abide_protocol::record::Record;
use rusqlite::{Connection, params};

/// This record, and the records of the same task with the same text: a task's last reply is also the summary in
/// the record of the task's end. A record that cannot be read is left out.
pub(crate) fn with_same_words(connection: &Connection, of: Record) -> Result<Vec<Record>, ReadError> {
    let texts = |record: &Record| {
        let chunks = chunk::chunks(&record.body, None);
        chunks.into_iter().map(|chunk| chunk.text).collect::<Vec<_>>()
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM records WHERE conversation = ?1 AND task = ?2 AND seq <> ?3
         AND kind IN ('reply', 'agent_message', 'task_ended')"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let task = of.task_id.map(|task| task.0);
    let mut rows = statement.query(params![of.conversation_id.0, task, seq_to_sql(of.seq)])?;
    let (said, mut found) = (texts(&of), vec![of]);
    while let Some(row) = rows.next()? {
        match record(row) {
            Ok(other) if texts(&other) == said => found.push(other),
            Ok(_) | Err(ReadError::Record { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// The records of a conversation whose chunks are indexed and quote one of these.
pub(crate) fn quoting(connection: &Connection, these: &[Record]) -> Result<Vec<Record>, ReadError> {
    let Some(first) = these.iter().min_by_key(|record| record.seq) else { return Ok(Vec::new()) };
    let sql = "SELECT id FROM chunks WHERE conversation = ?1 AND id > ?2 AND id % ?3 = 0";
    let mut statement = connection.prepare_cached(sql)?;
    let after = params![first.conversation_id.0, chunk_id(first.seq, 0), PARTS.cast_signed()];
    let chunks = statement.query_map(after, |row| row.get(0))?;
    let mut found = Vec::new();
    for chunk in chunks {
        let other = match said_at(connection, of_chunk_id(chunk?).0) {
            Ok(Some(other)) => other,
            Ok(None) | Err(ReadError::Record { .. }) => continue,
            Err(error) => return Err(error),
        };
        let quoted = needed_by(connection, &other)?;
        if quoted.is_some_and(|quoted| these.iter().any(|it| it.seq == quoted.seq)) {
            found.push(other);
        }
    }
    Ok(found)
}
