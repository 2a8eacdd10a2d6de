//! The inbox: open questions and approvals.

use super::{Changes, task_of};
use crate::ledger::{Fault, Ledger};
use abide_protocol::{
    ApprovalId, ConversationId, QuestionId, inbox::PendingId, record::Record, task::AgentTask,
};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

fn parts(id: PendingId) -> (Uuid, &'static str) {
    match id {
        PendingId::Question(QuestionId(id)) => (id, "question"),
        PendingId::Approval(ApprovalId(id)) => (id, "approval"),
    }
}

/// Reads a row of `id, kind`.
fn pending_id(row: &Row<'_>) -> rusqlite::Result<PendingId> {
    let id = row.get(0)?;
    Ok(if row.get_ref(1)?.as_str()? == "question" {
        PendingId::Question(QuestionId(id))
    } else {
        PendingId::Approval(ApprovalId(id))
    })
}

/// Adds the item of a record, still closed. The item opens when the task's projection lists it as pending.
pub(super) fn opened(connection: &Connection, record: &Record, id: PendingId) -> Result<(), Fault> {
    let (id, kind) = parts(id);
    connection
        .prepare_cached("INSERT INTO inbox (id, kind, conversation, task, at) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![id, kind, record.conversation_id.0, task_of(record)?.0, record.at.0])?;
    Ok(())
}

/// Opens and closes items until the open ones are those that the task lists as pending.
pub(super) fn reconcile(
    ledger: &mut Ledger<'_>,
    task: &AgentTask,
    changes: &mut Changes,
) -> Result<(), Fault> {
    let mut closed = {
        let mut statement = ledger.connection.prepare_cached(
            "SELECT id, kind FROM inbox WHERE task = ?1 AND item IS NOT NULL ORDER BY at, id",
        )?;
        statement.query_map([task.id.0], pending_id)?.collect::<Result<Vec<_>, _>>()?
    };
    for pending in &task.pending {
        let was_open = closed.iter().position(|id| *id == pending.id()).map(|i| closed.remove(i)).is_some();
        let (id, kind) = parts(pending.id());
        let written = ledger
            .connection
            .prepare_cached(
                "INSERT INTO inbox (id, kind, conversation, task, at, item) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (id) DO UPDATE SET item = excluded.item WHERE item IS NOT excluded.item",
            )?
            .execute(params![
                id,
                kind,
                task.conversation_id.0,
                task.id.0,
                pending.asked_at().0,
                serde_json::to_string(pending)?,
            ])?;
        if written > 0 {
            changes.inbox_added.push((task.id, pending.clone()));
        }
        if !was_open {
            ledger.totals.open_items += 1;
        }
    }
    for id in &closed {
        ledger
            .connection
            .prepare_cached("UPDATE inbox SET item = NULL WHERE id = ?1")?
            .execute([parts(*id).0])?;
        ledger.totals.open_items -= 1;
    }
    changes.inbox_removed.append(&mut closed);
    Ok(())
}

/// Closes all items of a deleted conversation. Returns the items that were open.
pub(crate) fn close_items(ledger: &mut Ledger<'_>, id: ConversationId) -> Result<Vec<PendingId>, Fault> {
    let mut statement = ledger.connection.prepare_cached(
        "UPDATE inbox SET item = NULL WHERE conversation = ?1 AND item IS NOT NULL RETURNING id, kind",
    )?;
    let closed = statement.query_map([id.0], pending_id)?.collect::<Result<Vec<_>, _>>()?;
    ledger.totals.open_items -= closed.len() as u64;
    Ok(closed)
}
