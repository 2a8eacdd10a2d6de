//! Reads what can be recalled: records of conversations, and persons' notes.

use crate::{
    checksum::Columns,
    column::seq_to_sql,
    error::{ReadError, Unreadable},
    hidden::HiddenBody,
    query::{COLUMNS, columns, record},
    stored_form,
};
use abide_protocol::{
    ConversationId, RecordId, Seq, Timestamp,
    record::{Noted, Record, RecordBody},
};
use rusqlite::{Connection, Row, params};

/// Reads a record from a row of [`COLUMNS`]. A person's note, which is a record of the hidden conversation, is
/// read as if an agent had made it. No other record of that conversation can be read.
pub(crate) fn said(row: &Row<'_>) -> Result<Record, ReadError> {
    match record(row) {
        Err(unknown @ ReadError::Record { reason: Unreadable::UnknownKind, .. }) => note(row)?.ok_or(unknown),
        read => read,
    }
}

fn note(row: &Row<'_>) -> Result<Option<Record>, ReadError> {
    let Columns { seq, id, conversation, task: _, at, kind, version, body } = columns(row)?;
    let HiddenBody::NoteAdded(note) = stored_form::read(seq, kind, version, body)? else { return Ok(None) };
    Ok(Some(Record {
        seq,
        id: RecordId(id),
        conversation_id: ConversationId(conversation),
        task_id: None,
        at: Timestamp(at),
        body: RecordBody::Noted(Noted { text: note.text }),
    }))
}

/// The record at this seq, if there is one.
pub(crate) fn said_at(connection: &Connection, seq: Seq) -> Result<Option<Record>, ReadError> {
    let sql = format!("SELECT {COLUMNS} FROM records WHERE seq = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![seq_to_sql(seq)])?;
    rows.next()?.map(said).transpose()
}
