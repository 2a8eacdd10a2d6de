//! Messages and calls: what a timeline shows.

use super::{
    page_size,
    record::{COLUMNS, record_at, records},
};
use crate::{
    Store,
    column::{Word, seq, seq_to_sql},
    error::ReadError,
};
use abide_protocol::{
    CallId, ConversationId, Seq, TaskId, event::Event, message::CallView,
    method::conversation::ListMessagesReply, record::RecordBody,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

/// A page ends early when its texts come to this many bytes, so that a reply with it fits in a frame.
const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// What an entry takes besides its texts, and the event that came with it.
const ENTRY_BYTES: usize = 512;

/// The last `limit` messages before that one, with all calls among them.
pub(super) fn page(
    connection: &Connection,
    id: ConversationId,
    before: Option<Seq>,
    limit: usize,
) -> Result<ListMessagesReply, ReadError> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, NULL FROM messages WHERE conversation = ?1 AND seq < ?2
         UNION ALL SELECT seq, id FROM calls WHERE conversation = ?1 AND seq < ?2
         ORDER BY seq DESC, 2 DESC",
    )?;
    let mut rows = statement.query(params![id.0, before.map_or(i64::MAX, seq_to_sql)])?;
    let mut page =
        ListMessagesReply { messages: Vec::new(), calls: Vec::new(), events: Vec::new(), before: None };
    let mut oldest = None;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let seq = seq(row, 0)?;
        if (page.messages.len() == limit || bytes > PAGE_BYTES) && oldest.is_some_and(|oldest| oldest != seq)
        {
            page.before = oldest;
            break;
        }
        oldest = Some(seq);
        if let Some(call) = row.get(1)? {
            if let Some(call) = call_view(connection, CallId(call))? {
                bytes += ENTRY_BYTES
                    + call.arguments.len()
                    + call.result.as_ref().map_or(0, |result| result.text().len());
                page.calls.push(call);
            }
        } else if let Some(message) = record_at(connection, seq)?.and_then(|record| record.message()) {
            bytes += ENTRY_BYTES + message.text.len() + message.reasoning.as_ref().map_or(0, String::len);
            page.messages.push(message);
        }
    }
    page.messages.reverse();
    page.calls.reverse();
    page.events = events(connection, id, page.before, before)?;
    Ok(page)
}

/// The events of a conversation from that seq on, before that one.
fn events(
    connection: &Connection,
    id: ConversationId,
    from: Option<Seq>,
    before: Option<Seq>,
) -> Result<Vec<Event>, ReadError> {
    let kinds = Event::RECORDS.join("', '");
    let sql = format!(
        "SELECT {COLUMNS} FROM records
         WHERE conversation = ?1 AND seq >= ?2 AND seq < ?3 AND kind IN ('{kinds}') ORDER BY seq"
    );
    let params = params![id.0, from.map_or(0, seq_to_sql), before.map_or(i64::MAX, seq_to_sql)];
    Ok(records(connection, &sql, params)?.iter().filter_map(Event::of).collect())
}

/// A call, put together from where it stands and the records that tell of it.
fn call_view(connection: &Connection, id: CallId) -> Result<Option<CallView>, ReadError> {
    let mut statement = connection.prepare_cached(
        "SELECT conversation, task, seq, finished, state, attempt, started_at FROM calls WHERE id = ?1",
    )?;
    let read = |row: &Row<'_>| {
        let view = CallView {
            call_id: id,
            seq: seq(row, 2)?,
            conversation_id: ConversationId(row.get(0)?),
            task_id: TaskId(row.get(1)?),
            tool: String::new(),
            summary: String::new(),
            arguments: String::new(),
            preview: None,
            state: row.get::<_, Word<_>>(4)?.0,
            attempt: row.get(5)?,
            started_at: row.get::<_, Option<i64>>(6)?.map(abide_protocol::Timestamp),
            ended_at: None,
            outcome: None,
            result: None,
        };
        let finished = row.get::<_, Option<i64>>(3)?.map(|_| seq(row, 3)).transpose()?;
        Ok((view, finished))
    };
    let Some((mut view, finished)) = statement.query_row([id.0], read).optional()? else { return Ok(None) };
    if let Some(RecordBody::CallPlanned(planned)) = record_at(connection, view.seq)?.map(|record| record.body)
    {
        view.tool = planned.tool;
        view.summary = planned.summary;
        view.arguments = planned.arguments;
        view.preview = planned.preview;
    }
    if let Some(record) = finished.map(|seq| record_at(connection, seq)).transpose()?.flatten() {
        view.ended_at = Some(record.at);
        if let RecordBody::CallFinished(finished) = record.body {
            view.outcome = Some(finished.outcome);
            view.result = Some(finished.result);
        }
    }
    Ok(Some(view))
}

impl Store {
    /// At most `limit` messages before that one (absent: the last) with the calls and events among them, oldest first. A page with
    /// a lot of text or many calls has fewer messages.
    pub async fn messages(
        &self,
        id: ConversationId,
        before: Option<Seq>,
        limit: u32,
    ) -> Result<ListMessagesReply, ReadError> {
        self.read(move |connection| page(connection, id, before, page_size(limit))).await
    }

    /// Those of these calls that have a result, or that nobody knows (any more).
    pub async fn settled_calls(&self, calls: Vec<CallId>) -> Result<Vec<CallId>, ReadError> {
        self.read(move |connection| {
            let mut open =
                connection.prepare_cached("SELECT 1 FROM calls WHERE id = ?1 AND finished IS NULL")?;
            let settled = calls.into_iter().filter_map(|call| match open.exists([call.0]) {
                Ok(true) => None,
                Ok(false) => Some(Ok(call)),
                Err(e) => Some(Err(e)),
            });
            Ok(settled.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// All calls of a task, in order.
    pub async fn task_calls(&self, id: TaskId) -> Result<Vec<CallView>, ReadError> {
        self.read(move |connection| {
            let mut statement =
                connection.prepare_cached("SELECT id FROM calls WHERE task = ?1 ORDER BY seq, id")?;
            let mut rows = statement.query([id.0])?;
            let mut calls = Vec::new();
            while let Some(row) = rows.next()? {
                calls.extend(call_view(connection, CallId(row.get(0)?))?);
            }
            Ok(calls)
        })
        .await
    }
}
