//! A conversation's row, as lists show it.

use super::{Changes, task_of};
use crate::{
    column::Word,
    ledger::{Fault, Ledger, WorkError},
    memory,
    query::{self, TreePosition},
};
use abide_protocol::{
    ConversationId,
    inbox::InboxItem,
    memory::MemoryUse,
    notification::{ConversationUpdate, InboxUpdate},
    record::{ConversationArchived, ConversationCreated, ConversationUpdated, Record},
};
use rusqlite::{Connection, params};

pub(super) fn created(
    connection: &Connection,
    record: &Record,
    body: &ConversationCreated,
    changes: &mut Changes,
) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO conversations
                 (id, title, workspace, mode, model, persona, created_at, updated_at, archived, unread, muted, memory, scope)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 0, 0, 0, ?8, ?9)",
        )?
        .execute(params![
            record.conversation_id.0,
            body.title,
            body.workspace,
            body.mode.map(Word),
            body.model,
            body.persona,
            record.at.0,
            Word(body.memory),
            memory::scope(record.conversation_id, &body.workspace),
        ])?;
    changes.touch(record.at);
    Ok(())
}

pub(super) fn updated(
    connection: &Connection,
    record: &Record,
    body: &ConversationUpdated,
    changes: &mut Changes,
) -> Result<(), Fault> {
    let id = record.conversation_id;
    let was_private = body.memory.is_some() && is_private(connection, id)?;
    connection
        .prepare_cached(
            "UPDATE conversations SET title = coalesce(?2, title), workspace = coalesce(?3, workspace),
                 mode = coalesce(?4, mode), model = coalesce(?5, model), persona = coalesce(?6, persona),
                 muted = coalesce(?7, muted), memory = coalesce(?8, memory), scope = coalesce(?9, scope)
             WHERE id = ?1",
        )?
        .execute(params![
            id.0,
            body.title,
            body.workspace,
            body.mode.map(Word),
            body.model,
            body.persona,
            body.muted,
            body.memory.map(Word),
            body.workspace.as_ref().map(|workspace| memory::scope(id, workspace)),
        ])?;
    match body.memory {
        Some(MemoryUse::Private) => memory::remove(connection, id).map_err(Fault::of_index)?,
        Some(_) if was_private => memory::look_again(connection, id)?,
        _ => {}
    }
    // A change of settings is no activity: the conversation keeps its place in lists.
    changes.entry_changed = true;
    Ok(())
}

fn is_private(connection: &Connection, id: ConversationId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM conversations WHERE id = ?1 AND memory = 'private'")?
        .exists([id.0])
}

pub(super) fn archived(
    connection: &Connection,
    record: &Record,
    body: ConversationArchived,
    changes: &mut Changes,
) -> Result<(), Fault> {
    connection
        .prepare_cached("UPDATE conversations SET archived = ?2 WHERE id = ?1")?
        .execute(params![record.conversation_id.0, body.archived])?;
    // Archiving is no activity either.
    changes.entry_changed = true;
    Ok(())
}

pub(super) fn root_task(
    connection: &Connection,
    record: &Record,
    changes: &mut Changes,
) -> Result<(), Fault> {
    connection
        .prepare_cached("UPDATE conversations SET task = ?2 WHERE id = ?1")?
        .execute(params![record.conversation_id.0, task_of(record)?.0])?;
    changes.touch(record.at);
    Ok(())
}

/// Writes the conversation's totals after an append, and returns the updates for clients.
pub(crate) fn finish(
    ledger: &Ledger<'_>,
    id: ConversationId,
    changes: Changes,
) -> Result<(Option<InboxUpdate>, Option<ConversationUpdate>), Fault> {
    let inbox_changed = !changes.inbox_added.is_empty() || !changes.inbox_removed.is_empty();
    let looks_different = changes.touched.is_some() || changes.entry_changed;
    let conversation = match changes.touched {
        Some(at) => query::touch_conversation(ledger.connection, id, changes.unread, at)?,
        None if inbox_changed || looks_different => query::conversation(ledger.connection, id)?,
        None => return Ok((None, None)),
    };
    let conversation = conversation.ok_or(WorkError::Gone(id))?;
    let item = |(task_id, pending)| {
        let TreePosition { root, title, depth } = query::place(ledger.connection, task_id)?;
        Ok::<_, Fault>(InboxItem {
            task_id,
            conversation_id: id,
            conversation_title: conversation.title.clone(),
            pending,
            root_id: root,
            title,
            depth,
        })
    };
    let added = changes.inbox_added.into_iter().map(item).collect::<Result<_, _>>()?;
    let inbox = inbox_changed.then_some(InboxUpdate {
        added,
        removed: changes.inbox_removed,
        count: ledger.totals.open_items,
    });
    let update = looks_different
        .then_some(ConversationUpdate { conversation_id: id, conversation: Some(conversation) });
    Ok((inbox, update))
}
