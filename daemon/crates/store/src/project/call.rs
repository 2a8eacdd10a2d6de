//! Where calls stand. Their content stays in the records.

use super::task_of;
use crate::{
    column::{Word, seq_to_sql},
    work::Fault,
};
use abide_protocol::{
    CallId, QuestionId,
    record::{CallFinished, CallPlanned, CallStarted, Record, ReplyRecord},
    task::CallState,
    transcript::StopReason,
};
use rusqlite::{Connection, ToSql, params};

fn execute(connection: &Connection, sql: &str, params: &[&dyn ToSql]) -> Result<(), Fault> {
    connection.prepare_cached(sql)?.execute(params)?;
    Ok(())
}

/// The call is known by what that record tells of it.
fn known(connection: &Connection, record: &Record, call: CallId) -> Result<(), Fault> {
    execute(
        connection,
        "INSERT INTO calls (id, conversation, task, seq, state, attempt) VALUES (?1, ?2, ?3, ?4, ?5, 0)
         ON CONFLICT (id) DO UPDATE SET seq = excluded.seq",
        params![
            call.0,
            record.conversation_id.0,
            task_of(record)?.0,
            seq_to_sql(record.seq),
            Word(CallState::Queued)
        ],
    )
}

pub(super) fn in_reply(connection: &Connection, record: &Record, body: &ReplyRecord) -> Result<(), Fault> {
    // A call of a reply that was cut is dropped.
    if body.reply.stop_reason != StopReason::Length {
        for call in body.reply.calls() {
            known(connection, record, call.id)?;
        }
    }
    Ok(())
}

pub(super) fn planned(connection: &Connection, record: &Record, body: &CallPlanned) -> Result<(), Fault> {
    known(connection, record, body.call_id)
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

pub(super) fn decided(connection: &Connection, call: CallId) -> Result<(), Fault> {
    set_state(connection, call, CallState::Queued)
}

pub(super) fn waits_for_answer(
    connection: &Connection,
    call: CallId,
    question: QuestionId,
) -> Result<(), Fault> {
    execute(
        connection,
        "UPDATE calls SET state = ?2, question = ?3 WHERE id = ?1 AND finished IS NULL",
        params![call.0, Word(CallState::WaitingUser), question.0],
    )
}

pub(super) fn answered(connection: &Connection, question: QuestionId) -> Result<(), Fault> {
    execute(
        connection,
        "UPDATE calls SET state = ?2, question = NULL WHERE question = ?1",
        params![question.0, Word(CallState::Queued)],
    )
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
        "UPDATE calls SET state = ?2, attempt = ?3, finished = ?4, question = NULL WHERE id = ?1",
        params![body.call_id.0, Word(CallState::Finished), body.attempt, seq_to_sql(record.seq)],
    )
}
