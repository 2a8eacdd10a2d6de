//! The state of calls, by the same rules as in a client's view. The calls' content stays in the records.

use super::task_of;
use crate::{
    column::{Word, seq_to_sql},
    ledger::Fault,
};
use abide_protocol::{
    CallId, ConversationId,
    record::{CallAssessed, CallFinished, CallStarted, Record},
    task::CallState,
};
use rusqlite::{Connection, ToSql, params};

fn execute(connection: &Connection, sql: &str, params: &[&dyn ToSql]) -> Result<(), Fault> {
    connection.prepare_cached(sql)?.execute(params)?;
    Ok(())
}

pub(super) fn assessed(connection: &Connection, record: &Record, body: &CallAssessed) -> Result<(), Fault> {
    // A call without a task would never be shown.
    task_of(record)?;
    execute(
        connection,
        "INSERT INTO calls (seq, id, state, attempt) VALUES (?1, ?2, ?3, 0)",
        params![seq_to_sql(record.seq), body.call_id.0, Word(CallState::Queued)],
    )
}

/// Deletes the rows of a conversation's calls; to be called before its records are deleted.
pub(crate) fn forget_calls(connection: &Connection, id: ConversationId) -> Result<(), Fault> {
    execute(
        connection,
        "DELETE FROM calls
         WHERE seq IN (SELECT seq FROM records WHERE conversation = ?1 AND kind = 'call_assessed')",
        params![id.0],
    )
}

fn set_state(connection: &Connection, call: CallId, state: CallState) -> Result<(), Fault> {
    execute(
        connection,
        "UPDATE calls SET state = ?2 WHERE id = ?1 AND finished IS NULL",
        params![call.0, Word(state)],
    )
}

pub(super) fn waits_for_approval(connection: &Connection, call: CallId) -> Result<(), Fault> {
    set_state(connection, call, CallState::WaitingApproval)
}

pub(super) fn waits_for_user(connection: &Connection, call: CallId) -> Result<(), Fault> {
    set_state(connection, call, CallState::WaitingUser)
}

pub(super) fn waits_for_children(connection: &Connection, call: CallId) -> Result<(), Fault> {
    set_state(connection, call, CallState::WaitingChildren)
}

pub(super) fn decided(connection: &Connection, call: CallId) -> Result<(), Fault> {
    set_state(connection, call, CallState::Queued)
}

pub(super) fn started(connection: &Connection, record: &Record, body: &CallStarted) -> Result<(), Fault> {
    execute(
        connection,
        "UPDATE calls SET state = ?2, attempt = ?3, started_at = ?4 WHERE id = ?1 AND finished IS NULL",
        params![body.call_id.0, Word(CallState::Running), body.attempt, record.at.0],
    )
}

pub(super) fn finished(connection: &Connection, record: &Record, body: &CallFinished) -> Result<(), Fault> {
    execute(
        connection,
        "UPDATE calls SET state = ?2, attempt = ?3, finished = ?4 WHERE id = ?1",
        params![body.call_id.0, Word(CallState::Finished), body.attempt, seq_to_sql(record.seq)],
    )
}
