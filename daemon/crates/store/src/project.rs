//! Projections: rows derived from records as they are appended. The cost does not grow with the history.

mod call;
mod conversation;
mod inbox;
mod rows;
mod task;

pub(crate) use call::forget_calls;
pub(crate) use conversation::finish;
pub(crate) use inbox::close_items;
pub(crate) use rows::rows;
pub(crate) use task::task;

use crate::{
    canonical::rule_digest,
    column::seq_to_sql,
    ledger::{Fault, WorkError},
    query::client_message,
};
use abide_protocol::{
    TaskId, Timestamp,
    inbox::{Pending, PendingId, Rule},
    message::{Message, Role},
    record::{ClientMessage, Record, RecordBody, RuleForgotten, RuleRemembered},
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
    /// New messages that are not the person's.
    unread: u64,
    /// The time at which the conversation was last changed, if it was.
    touched: Option<Timestamp>,
    /// The conversation's entry in lists changed, but not its time of change.
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

/// Updates the rows that follow from a record.
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
        }
        RecordBody::TaskEnded(_) => changes.touch(record.at),
        RecordBody::CallAssessed(body) => call::assessed(connection, record, body)?,
        RecordBody::ApprovalRequested(approval) => {
            inbox::opened(connection, record, PendingId::Approval(approval.id))?;
            call::waits_for_approval(connection, approval.call_id)?;
        }
        RecordBody::ApprovalDecided(body) => call::decided(connection, body.call_id)?,
        RecordBody::RuleRemembered(body) => rule_remembered(connection, record, body)?,
        RecordBody::RuleForgotten(body) => rule_forgotten(connection, record, body)?,
        RecordBody::CallStarted(body) => call::started(connection, record, body)?,
        RecordBody::CallFinished(body) => call::finished(connection, record, body)?,
        RecordBody::QuestionAsked(question) => {
            inbox::opened(connection, record, PendingId::Question(question.id))?;
        }
        RecordBody::ConversationDeleted(_)
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
        | RecordBody::ResultsDelivered(_) => {}
    }
    if let Some(said) = record.message()
        && !record.task_id.is_some_and(|task| changes.children.contains(&task))
    {
        message(&said, changes);
    }
    Ok(())
}

fn message(message: &Message, changes: &mut Changes) {
    if message.role != Role::User && seq_to_sql(message.seq) > changes.read_up_to {
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

fn rule_remembered(connection: &Connection, record: &Record, body: &RuleRemembered) -> Result<(), Fault> {
    let digest = digest_of(&body.rule)?;
    connection
        .prepare_cached("INSERT INTO rules (seq, conversation, digest, allow) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![seq_to_sql(record.seq), record.conversation_id.0, digest, body.allow])?;
    Ok(())
}

/// Forgets this conversation's decision. Other conversations that remember the same call forget by their own records.
fn rule_forgotten(connection: &Connection, record: &Record, body: &RuleForgotten) -> Result<(), Fault> {
    connection
        .prepare_cached("DELETE FROM rules WHERE conversation = ?1 AND digest = ?2")?
        .execute(params![record.conversation_id.0, digest_of(&body.rule)?])?;
    Ok(())
}

fn digest_of(rule: &Rule) -> Result<[u8; 32], WorkError> {
    rule_digest(&rule.tool, rule.arguments.as_str(), &rule.workspace)
        .ok_or_else(|| WorkError::Invalid("a rule's arguments are nested too deeply".to_owned()))
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
