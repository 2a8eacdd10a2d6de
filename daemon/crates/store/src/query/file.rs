//! The files of a task.

use super::record::{COLUMNS, record, record_at};
use crate::{
    Store,
    column::{seq_from_sql, seq_to_sql},
    error::ReadError,
};
use abide_protocol::{ConversationId, Seq, TaskId, method::task::TaskFile, record::RecordBody};
use rusqlite::{Connection, OptionalExtension as _, params};

/// When the call has written its file; `None` if it has written none.
fn written(connection: &Connection, assessed: Seq) -> Result<Option<Seq>, ReadError> {
    let mut statement = connection.prepare_cached("SELECT finished FROM calls WHERE seq = ?1")?;
    let finished: Option<Option<i64>> =
        statement.query_row([seq_to_sql(assessed)], |row| row.get(0)).optional()?;
    let Some(seq) = finished.flatten().map(seq_from_sql) else { return Ok(None) };
    let is_done = |body: &RecordBody| matches!(body, RecordBody::CallFinished(call) if call.result.ok);
    Ok(record_at(connection, seq)?.filter(|record| is_done(&record.body)).map(|record| record.seq))
}

fn files(
    connection: &Connection,
    conversation: ConversationId,
    task: TaskId,
) -> Result<Vec<TaskFile>, ReadError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM records WHERE conversation = ?1 AND task = ?2 AND (kind = 'task_started'
             OR kind = 'call_assessed' AND body ->> '$.edit' IS NOT NULL) ORDER BY seq"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![conversation.0, task.0])?;
    let mut files: Vec<(Seq, TaskFile)> = Vec::new();
    while let Some(row) = rows.next()? {
        let record = record(row)?;
        match record.body {
            RecordBody::TaskStarted(head) => {
                files.extend(head.files.into_iter().map(|path| (record.seq, TaskFile::named(path))));
            }
            RecordBody::CallAssessed(call) => {
                if let Some(at) = written(connection, record.seq)? {
                    files.extend(call.edit.map(|edit| (at, TaskFile::written(&edit, call.call_id))));
                }
            }
            _ => {}
        }
    }
    files.sort_by_key(|(at, _)| *at);
    Ok(files.into_iter().map(|(_, file)| file).collect())
}

impl Store {
    /// The files that the user named, then the files that the task's tools have written. A file is listed as
    /// often as it was written.
    pub async fn task_files(
        &self,
        conversation: ConversationId,
        task: TaskId,
    ) -> Result<Vec<TaskFile>, ReadError> {
        self.read(move |connection| files(connection, conversation, task)).await
    }
}
