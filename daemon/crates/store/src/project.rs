//! Projections: rows that are derived from records as they are appended. The cost does not grow with the
//! history.

mod call;
mod conversation;
mod inbox;
mod rows;
mod rule;
mod task;

pub(crate) use call::forget_calls;
pub(crate) use conversation::finish;
pub(crate) use inbox::close_items;
pub(crate) use rows::rows;
pub(crate) use rule::hidden;
pub(crate) use task::task;

use crate::{
    column::seq_to_sql,
    ledger::{Fault, WorkError},
    memory,
    query::{client_message, external_task},
};
use abide_protocol::{
    TaskId, Timestamp,
    inbox::{Pending, PendingId, QuestionKind},
    message::Message,
    record::{ClientMessage, Record, RecordBody},
    task::AgentTask,
};
use rusqlite::{Connection, params};

/// Changes of an append outside its own rows.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// For a rebuild: messages up to this seq are already read.
    read_up_to: i64,
    /// Sub-tasks; their messages are not the conversation's.
    children: Vec<TaskId>,
    /// New messages that count as unread.
    unread: u64,
    /// The time at which the conversation was last changed, if it was.
    touched: Option<Timestamp>,
    /// The conversation's entry in lists changed, but its time of change did not.
    entry_changed: bool,
    inbox_added: Vec<(TaskId, Pending)>,
    inbox_removed: Vec<PendingId>,
}

impl Changes {
    /// Changes by records of these tasks.
    pub(crate) fn of<'t>(tasks: impl Iterator<Item = &'t AgentTask>) -> Self {
        let children = tasks.filter(|task| task.parent_id.is_some()).map(|task| task.id);
        Self { children: children.collect(), ..Self::default() }
    }

    /// For a rebuild: the records are old, and were read up to this seq.
    pub(crate) fn for_rebuild(self, read_up_to: i64) -> Self {
        Self { read_up_to, ..self }
    }

    fn touch(&mut self, at: Timestamp) {
        self.touched = self.touched.max(Some(at));
    }
}

/// Updates the rows that are derived from a record.
pub(crate) fn record(connection: &Connection, record: &Record, changes: &mut Changes) -> Result<(), Fault> {
    match &record.body {
        RecordBody::ConversationCreated(body) => conversation::created(connection, record, body, changes)?,
        RecordBody::ConversationUpdated(body) => conversation::updated(connection, record, body, changes)?,
        RecordBody::ConversationArchived(body) => conversation::archived(connection, record, *body, changes)?,
        RecordBody::TaskStarted(body) => {
            if body.parent_id.is_none() {
                conversation::root_task(connection, record, changes)?;
            }
            if let Some(message) = &body.client_message {
                client_message_used(connection, record, message)?;
            }
            id_used(connection, record, body.external_id.as_deref())?;
        }
        RecordBody::TaskEnded(_) => changes.touch(record.at),
        RecordBody::CallAssessed(body) => call::assessed(connection, record, body)?,
        RecordBody::ApprovalRequested(approval) => {
            inbox::opened(connection, record, PendingId::Approval(approval.id))?;
            call::waits_for_approval(connection, approval.call_id)?;
        }
        RecordBody::ApprovalDecided(body) => call::decided(connection, body.call_id)?,
        RecordBody::CallStarted(body) => call::started(connection, record, body)?,
        RecordBody::CallFinished(body) => call::finished(connection, record, body)?,
        RecordBody::QuestionAsked(question) => {
            inbox::opened(connection, record, PendingId::Question(question.id))?;
            if let (QuestionKind::Agent, Some(call)) = (question.kind, question.call_id) {
                call::waits_for_user(connection, call)?;
            }
        }
        RecordBody::Joining(body) => call::waits_for_children(connection, body.call_id)?,
        RecordBody::Recalled(body) => memory::note_sources(connection, record.seq, body)?,
        // Remembered decisions are derived from the hidden conversation.
        RecordBody::RuleRemembered(_)
        | RecordBody::ConversationDeleted(_)
        | RecordBody::UserMessage(_)
        | RecordBody::Notice(_)
        | RecordBody::Nudge(_)
        | RecordBody::Update(_)
        | RecordBody::ModelRequested(_)
        | RecordBody::ModelFailed(_)
        | RecordBody::Reply(_)
        | RecordBody::PartialReply(_)
        | RecordBody::QuestionAnswered(_)
        | RecordBody::Paused(_)
        | RecordBody::Resumed(_)
        | RecordBody::LimitsRaised(_)
        | RecordBody::Compacted(_)
        | RecordBody::Restarted(_)
        | RecordBody::ModelTraced(_)
        | RecordBody::ResultsDelivered(_)
        | RecordBody::PhaseBegan(_)
        | RecordBody::AgentMessage(_)
        | RecordBody::Intervened(_)
        | RecordBody::Checkpointed(_)
        | RecordBody::UndoBegun(_)
        | RecordBody::UndoEnded(_)
        | RecordBody::ClockMoved(_)
        | RecordBody::Imported(_)
        | RecordBody::Noted(_) => {}
    }
    if let Some(said) = record.message()
        && !record.task_id.is_some_and(|task| changes.children.contains(&task))
    {
        message(&said, changes);
    }
    Ok(())
}

fn message(message: &Message, changes: &mut Changes) {
    if message.is_news() && seq_to_sql(message.seq) > changes.read_up_to {
        changes.unread += 1;
    }
    changes.touch(message.at);
}

fn client_message_used(connection: &Connection, record: &Record, used: &ClientMessage) -> Result<(), Fault> {
    if let Some(first) = client_message(connection, &used.id)? {
        return Err(WorkError::Duplicate(first).into());
    }
    connection
        .prepare_cached(
            "INSERT INTO client_messages (id, digest, task, conversation) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![used.id, used.digest, task_of(record)?.0, record.conversation_id.0])?;
    Ok(())
}

/// Refuses a task whose id or external id another task has.
fn id_used(connection: &Connection, record: &Record, external: Option<&str>) -> Result<(), Fault> {
    let task = task_of(record)?;
    if connection.prepare_cached("SELECT 1 FROM tasks WHERE id = ?1")?.exists([task.0])? {
        return Err(WorkError::TaskIdUsed(task).into());
    }
    let Some(id) = external else { return Ok(()) };
    if let Some(first) = external_task(connection, id)? {
        return Err(WorkError::TaskIdUsed(first).into());
    }
    connection
        .prepare_cached("INSERT INTO external_ids (id, task, conversation) VALUES (?1, ?2, ?3)")?
        .execute(params![id, task.0, record.conversation_id.0])?;
    Ok(())
}

/// The task of a record that must have one.
fn task_of(record: &Record) -> Result<TaskId, Fault> {
    record.task_id.ok_or_else(|| {
        WorkError::Invalid(format!(
            "record {} is of a kind that belongs to a task, but names none",
            record.id
        ))
        .into()
    })
}
