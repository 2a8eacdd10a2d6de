//! Tasks, as the engine says they stand.

use super::{Changes, inbox};
use crate::{
    column::Word,
    committed::TaskProjection,
    work::{Fault, Ledger, Refusal},
};
use abide_protocol::{
    ConversationId,
    task::{AgentTask, Status},
};
use rusqlite::{OptionalExtension as _, params};

/// Stores how a task stands. `brief` is the task without its long texts.
pub(crate) fn task(
    ledger: &mut Ledger<'_>,
    conversation: ConversationId,
    projection: &TaskProjection,
    brief: &AgentTask,
    changes: &mut Changes,
) -> Result<(), Fault> {
    if brief.conversation_id != conversation {
        let reason = format!("task {} is not of conversation {conversation}", brief.id);
        return Err(Refusal::Invalid(reason).into());
    }
    let connection = ledger.connection;
    let was: Option<Word<Status>> = connection
        .prepare_cached("SELECT status FROM tasks WHERE id = ?1")?
        .query_row([brief.id.0], |row| row.get(0))
        .optional()?;
    connection
        .prepare_cached(
            "INSERT INTO tasks (id, conversation, parent, status, ended, started_at, wake_at, brief)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (id) DO UPDATE SET status = excluded.status, ended = excluded.ended,
                 wake_at = excluded.wake_at, brief = excluded.brief",
        )?
        .execute(params![
            brief.id.0,
            conversation.0,
            brief.parent_id.map(|id| id.0),
            Word(brief.status),
            brief.status.has_ended(),
            brief.started_at.0,
            projection.wake_at.map(|at| at.0),
            serde_json::to_string(brief)?,
        ])?;
    connection
        .prepare_cached(
            "INSERT INTO task_texts (task, prompt, scratchpad) VALUES (?1, ?2, ?3)
             ON CONFLICT (task) DO UPDATE SET prompt = excluded.prompt, scratchpad = excluded.scratchpad
                 WHERE prompt <> excluded.prompt OR scratchpad <> excluded.scratchpad",
        )?
        .execute(params![
            brief.id.0,
            projection.task.original_prompt,
            serde_json::to_string(&projection.task.scratchpad)?,
        ])?;
    // A conversation shows the status of its newest root task.
    changes.restyled |= brief.parent_id.is_none() && was.is_none_or(|was| was.0 != brief.status);
    inbox::reconcile(ledger, brief, changes)
}
