//! Messages and calls: what a timeline shows.

use super::{page_size, record::record_at};
use crate::{
    Store,
    column::{Word, seq, seq_to_sql},
    error::ReadError,
};
use abide_protocol::{
    CallId, ConversationId, Seq, TaskId,
    message::{CallView, Message},
    record::RecordBody,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

/// A page ends early when its texts come to this many bytes, so that a reply with it fits in a frame.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// A part of a conversation's timeline, oldest first.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) messages: Vec<Message>,
    /// All calls that stand between the page's first seq and its end.
    pub(super) calls: Vec<CallView>,
    /// Where the page before it ends; absent if there is none.
    pub(super) before: Option<Seq>,
}

/// The last `limit` messages before that one, with all calls among them.
pub(super) fn page(
    connection: &Connection,
    id: ConversationId,
    before: Option<Seq>,
    limit: usize,
) -> Result<Page, ReadError> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, NULL FROM messages WHERE conversation = ?1 AND seq < ?2
         UNION ALL SELECT seq, id FROM calls WHERE conversation = ?1 AND seq < ?2
         ORDER BY seq DESC, 2 DESC",
    )?;
    let mut rows = statement.query(params![id.0, before.map_or(i64::MAX, seq_to_sql)])?;
    let mut page = Page::default();
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
                bytes += call.arguments.len() + call.result.as_ref().map_or(0, |result| result.text().len());
                page.calls.push(call);
            }
        } else if let Some(message) = record_at(connection, seq)?.and_then(|record| record.message()) {
            bytes += message.text.len() + message.reasoning.as_ref().map_or(0, String::len);
            page.messages.push(message);
        }
    }
    page.messages.reverse();
    page.calls.reverse();
    Ok(page)
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
    /// At most `limit` messages before that one (absent: the last), oldest first; the calls among them; and what to pass as
    /// `before` for the page before this one, if there is one. A page with a lot of text has fewer messages.
    pub async fn messages(
        &self,
        id: ConversationId,
        before: Option<Seq>,
        limit: u32,
    ) -> Result<(Vec<Message>, Vec<CallView>, Option<Seq>), ReadError> {
        self.read(move |connection| {
            let page = page(connection, id, before, page_size(limit))?;
            Ok((page.messages, page.calls, page.before))
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
