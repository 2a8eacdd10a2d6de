//! Stores the engine's projections of tasks.

use super::{Changes, inbox};
use crate::{
    column::Word,
    committed::TaskProjection,
    ledger::{Fault, Ledger, WorkError},
};
use abide_protocol::{
    ConversationId,
    task::{AgentTask, Status},
};
use rusqlite::{Connection, OptionalExtension as _, params};

/// Stores a task's state. `brief` is the task without its long texts.
pub(crate) fn task(
    ledger: &mut Ledger<'_>,
    conversation: ConversationId,
    projection: &TaskProjection,
    brief: &AgentTask,
    changes: &mut Changes,
) -> Result<(), Fault> {
    if brief.conversation_id != conversation {
        let reason = format!("task {} is not of conversation {conversation}", brief.id);
        return Err(WorkError::Invalid(reason).into());
    }
    let scratchpad = serde_json::to_string(&projection.task.scratchpad)?;
    let before = Before::read(ledger.connection, projection, &scratchpad)?;
    store(ledger.connection, projection, brief, before.is_some())?;
    if before.as_ref().is_none_or(|before| !before.has_same_texts) {
        store_texts(ledger.connection, projection, &scratchpad)?;
    }
    // A conversation shows the status of its newest root task.
    let had_status = |before: &Before| before.status == brief.status;
    changes.entry_changed |= brief.parent_id.is_none() && !before.as_ref().is_some_and(had_status);
    if before.is_none_or(|before| before.is_waited_for) || !brief.pending.is_empty() {
        inbox::reconcile(ledger, brief, changes)?;
    }
    Ok(())
}

/// The part of the stored state that decides what has to be written.
struct Before {
    status: Status,
    has_same_texts: bool,
    /// The task has an open inbox item.
    is_waited_for: bool,
}

impl Before {
    fn read(
        connection: &Connection,
        projection: &TaskProjection,
        scratchpad: &str,
    ) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(
                "SELECT t.status, coalesce(x.prompt = ?2 AND x.scratchpad = ?3, 0),
                     EXISTS (SELECT 1 FROM inbox i WHERE i.task = ?1 AND i.item IS NOT NULL)
                 FROM tasks t LEFT JOIN task_texts x ON x.task = t.id WHERE t.id = ?1",
            )?
            .query_row(params![projection.task.id.0, projection.task.original_prompt, scratchpad], |row| {
                Ok(Self {
                    status: row.get::<_, Word<_>>(0)?.0,
                    has_same_texts: row.get(1)?,
                    is_waited_for: row.get(2)?,
                })
            })
            .optional()
    }
}

fn store(
    connection: &Connection,
    projection: &TaskProjection,
    brief: &AgentTask,
    is_known: bool,
) -> Result<(), Fault> {
    let (wake_at, json) = (projection.wake_at.map(|at| at.0), serde_json::to_string(brief)?);
    let (status, ended) = (Word(brief.status), brief.status.has_ended());
    let needs_daemon = projection.needs_daemon;
    if is_known {
        connection
            .prepare_cached(
                "UPDATE tasks SET status = ?2, ended = ?3, wake_at = ?4, brief = ?5, needs_daemon = ?6 WHERE id = ?1",
            )?
            .execute(params![brief.id.0, status, ended, wake_at, json, needs_daemon])?;
        return Ok(());
    }
    connection
        .prepare_cached(
            "INSERT INTO tasks (id, conversation, parent, status, ended, started_at, wake_at, brief, needs_daemon)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            brief.id.0,
            brief.conversation_id.0,
            brief.parent_id.map(|id| id.0),
            status,
            ended,
            brief.started_at.0,
            wake_at,
            json,
            needs_daemon,
        ])?;
    Ok(())
}

fn store_texts(connection: &Connection, projection: &TaskProjection, scratchpad: &str) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO task_texts (task, prompt, scratchpad) VALUES (?1, ?2, ?3)
             ON CONFLICT (task) DO UPDATE SET prompt = excluded.prompt, scratchpad = excluded.scratchpad",
        )?
        .execute(params![projection.task.id.0, projection.task.original_prompt, scratchpad])?;
    Ok(())
}
