//! Takes words out of what other conversations have recalled of them.

use crate::{
    checksum::Columns,
    column::{seq, seq_to_sql},
    error::ReadError,
    ledger::Fault,
    query::{self, COLUMNS},
    stored_form::{self, Stored},
};
use abide_protocol::{
    ConversationId, Seq,
    memory::Snippet,
    record::{Recalled, RecordBody},
};
use rusqlite::{Connection, params};

/// Notes whose words a record has.
pub(crate) fn note_sources(connection: &Connection, at: Seq, recalled: &Recalled) -> rusqlite::Result<()> {
    for Snippet { conversation_id, seq, .. } in &recalled.snippets {
        connection
            .prepare_cached(
                "INSERT OR IGNORE INTO recalled_from (conversation, source, seq) VALUES (?1, ?2, ?3)",
            )?
            .execute(params![conversation_id.0, seq_to_sql(*seq), seq_to_sql(at)])?;
    }
    Ok(())
}

/// Takes out what was deleted or forgotten between the recall and its record.
pub(crate) fn blank_gone(connection: &Connection, recalled: &mut Recalled) -> rusqlite::Result<()> {
    for snippet in &mut recalled.snippets {
        let is_there = connection
            .prepare_cached(
                "SELECT 1 FROM records WHERE seq = ?1 AND conversation = ?2
                 AND seq NOT IN (SELECT seq FROM forgotten)",
            )?
            .exists(params![seq_to_sql(snippet.seq), snippet.conversation_id.0])?;
        if !is_there {
            snippet.blank();
        }
    }
    Ok(())
}

/// Drops these notes for the records of a conversation.
pub(crate) fn drop_sources(connection: &Connection, of: ConversationId) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM recalled_from
             WHERE seq IN (SELECT seq FROM records WHERE conversation = ?1 AND kind = 'recalled')",
        )?
        .execute([of.0])
        .map(drop)
}

/// Blanks the snippets of a conversation, or of one of its records, in the `recalled` records of other
/// conversations, all of them or a part. Adds those other conversations to the changed ones. A blanked record's
/// checksum is computed anew, and the snapshots that may hold the snippets are dropped.
pub(crate) fn blank(
    connection: &Connection,
    said_in: ConversationId,
    said_at: Option<Seq>,
    part: fn(&mut Snippet),
    changed: &mut Vec<ConversationId>,
) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT seq FROM recalled_from WHERE conversation = ?1 AND (?2 IS NULL OR source = ?2)",
    )?;
    let found = statement.query_map(params![said_in.0, said_at.map(seq_to_sql)], |row| seq(row, 0))?;
    let found: Vec<Seq> = found.collect::<Result<_, _>>()?;
    for at in found {
        let is_meant = |snippet: &Snippet| {
            snippet.conversation_id == said_in && said_at.is_none_or(|seq| seq == snippet.seq)
        };
        let Some(conversation) = blank_record(connection, at, is_meant, part)? else { continue };
        connection
            .prepare_cached("DELETE FROM history_snapshots WHERE conversation = ?1")?
            .execute([conversation.0])?;
        if !changed.contains(&conversation) {
            changed.push(conversation);
        }
    }
    Ok(())
}

/// Returns the record's conversation. `None`: there is no such record.
fn blank_record(
    connection: &Connection,
    at: Seq,
    is_meant: impl Fn(&Snippet) -> bool,
    part: fn(&mut Snippet),
) -> Result<Option<ConversationId>, Fault> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM records WHERE seq = ?1"))?;
    let mut rows = statement.query([seq_to_sql(at)])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let read = query::columns(row).and_then(|columns| {
        let Columns { seq, kind, version, body, .. } = columns;
        Ok((columns, stored_form::read(seq, kind, version, body)?))
    });
    let (columns, mut body): (Columns<'_>, RecordBody) = match read {
        Ok(read) => read,
        // A record that is damaged is no reason to keep another.
        Err(error @ ReadError::Record { .. }) => {
            tracing::warn!(%error, "what a task has recalled cannot be taken out of its record");
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    if let RecordBody::Recalled(recalled) = &mut body {
        recalled.snippets.iter_mut().filter(|snippet| is_meant(snippet)).for_each(part);
    }
    let stored = Stored::of(&body)?;
    let changed = Columns { kind: stored.kind, version: stored.version, body: stored.body(), ..columns };
    connection
        .prepare_cached("UPDATE records SET version = ?2, body = ?3, checksum = ?4 WHERE seq = ?1")?
        .execute(params![seq_to_sql(at), changed.version, changed.body, changed.checksum()])?;
    Ok(Some(ConversationId(changed.conversation)))
}
