//! A task's history.

use super::record::{COLUMNS, record, records};
use crate::{Store, error::ReadError};
use abide_protocol::{
    ConversationId, TaskId,
    event::{Event, EventKind},
    message::Message,
    method::task::TaskHistory,
    record::Record,
};
use rusqlite::{Connection, params};

/// The size at which a history is cut, so that a reply with the history and the task's calls fits in a frame.
const MOST_BYTES: usize = 2 * 1024 * 1024;
/// The size of an entry without its texts.
const ENTRY_BYTES: usize = 512;

fn history(
    connection: &Connection,
    conversation: ConversationId,
    task: TaskId,
) -> Result<TaskHistory, ReadError> {
    let kinds = [Message::RECORDS, Event::RECORDS].concat().join("', '");
    let sql = format!(
        "SELECT {COLUMNS} FROM records
         WHERE conversation = ?1 AND task = ?2 AND kind IN ('{kinds}') ORDER BY seq DESC"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![conversation.0, task.0])?;
    let mut history = TaskHistory { messages: Vec::new(), events: Vec::new(), is_cut: false };
    let mut bytes = 0;
    // Newest first, because a long history keeps its newest part.
    while let Some(row) = rows.next()? {
        if bytes > MOST_BYTES {
            history.is_cut = true;
            break;
        }
        let record = record(row)?;
        if let Some(message) = record.message() {
            bytes += ENTRY_BYTES + message.text.len() + message.reasoning.as_ref().map_or(0, String::len);
            history.messages.push(message);
        } else if let Some(event) = Event::whole(&record) {
            bytes += ENTRY_BYTES + traced(&event);
            history.events.push(event);
        }
    }
    history.messages.reverse();
    history.events.reverse();
    Ok(history)
}

fn traced(event: &Event) -> usize {
    match &event.kind {
        EventKind::ModelTraced(traced) => traced.traces.iter().map(|t| t.what.len() + t.raw.len()).sum(),
        _ => 0,
    }
}

/// The kinds of records that tell a task's changes of files.
const OF_FILES: &str = "'checkpointed', 'undo_begun', 'undo_ended'";

impl Store {
    /// A conversation's records of checkpoints and undos, oldest first.
    pub async fn file_records(&self, conversation: ConversationId) -> Result<Vec<Record>, ReadError> {
        self.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM records WHERE conversation = ?1 AND kind IN ({OF_FILES}) ORDER BY seq"
            );
            records(connection, &sql, params![conversation.0])
        })
        .await
    }

    /// A task's messages and events, oldest first; only the newest part of a long history.
    pub async fn task_history(
        &self,
        conversation: ConversationId,
        task: TaskId,
    ) -> Result<TaskHistory, ReadError> {
        self.read(move |connection| history(connection, conversation, task)).await
    }
}
