//! Messages, calls and events of a timeline, of a conversation without its sub-tasks, or of a task.

use super::{
    page_size,
    record::{COLUMNS, record, record_at, records},
};
use crate::{
    Store,
    column::{Word, seq_from_sql, seq_to_sql},
    error::ReadError,
    feed::Feed,
};
use abide_protocol::{
    CallId, ConversationId, Seq, TaskId, Timestamp,
    event::Event,
    message::{CallView, Message},
    method::conversation::ListMessagesReply,
    record::{Record, RecordBody},
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

/// The size at which a page ends early, so that a reply with the page fits in a frame.
const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// The size of an entry and its events without texts.
const ENTRY_BYTES: usize = 512;

/// An entry of the timeline.
enum Entry {
    Message(Message),
    Call(CallView),
}

impl Entry {
    /// The entry of a record, if the record has one. A reply without text has no entry.
    fn of(connection: &Connection, record: Record) -> Result<Option<Self>, ReadError> {
        if let Some(message) = record.message() {
            return Ok(Some(Self::Message(message)));
        }
        Ok(call_view(connection, record)?.map(Self::Call))
    }

    fn bytes(&self) -> usize {
        ENTRY_BYTES
            + match self {
                Self::Message(message) => {
                    message.text.len() + message.reasoning.as_ref().map_or(0, String::len)
                }
                Self::Call(call) => call_texts(call),
            }
    }
}

/// The size of a call's texts in bytes.
fn call_texts(call: &CallView) -> usize {
    let preview = call.preview.as_ref().map_or(0, |preview| preview.diff.len());
    call.arguments.len() + preview + call.result.as_ref().map_or(0, |result| result.text().len())
}

/// A task's calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskCalls {
    /// Oldest first.
    pub calls: Vec<CallView>,
    /// Older calls were left out.
    pub is_cut: bool,
}

/// The last `limit` messages of a feed before this seq, with the calls and events among them. With `after`:
/// the first messages after that seq.
pub(super) fn page(
    connection: &Connection,
    feed: Feed,
    (after, before): (Option<Seq>, Option<Seq>),
    limit: usize,
) -> Result<ListMessagesReply, ReadError> {
    let kinds = Message::RECORDS.join("', '");
    let (condition, of) = feed.sql();
    let order = if after.is_some() { "ASC" } else { "DESC" };
    let sql = format!(
        "SELECT {COLUMNS} FROM records
         WHERE {condition} AND seq > ?2 AND seq < ?3 AND kind IN ('call_assessed', '{kinds}') ORDER BY seq {order}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let bounds = (after.map_or(0, seq_to_sql), before.map_or(i64::MAX, seq_to_sql));
    let mut rows = statement.query(params![of, bounds.0, bounds.1])?;
    let mut page = ListMessagesReply {
        messages: Vec::new(),
        calls: Vec::new(),
        events: Vec::new(),
        before: None,
        after: None,
    };
    let (mut last, mut bytes) = (None, 0);
    while let Some(row) = rows.next()? {
        let record = record(row)?;
        let seq = record.seq;
        let Some(entry) = Entry::of(connection, record)? else { continue };
        if last.is_some() && (page.messages.len() == limit || bytes > PAGE_BYTES) {
            if after.is_some() {
                // The events up to this entry belong to the page.
                page.after = Some(Seq(seq.0.saturating_sub(1)));
            } else {
                page.before = last;
            }
            break;
        }
        last = Some(seq);
        bytes += entry.bytes();
        match entry {
            Entry::Message(message) => page.messages.push(message),
            Entry::Call(call) => page.calls.push(call),
        }
    }
    let next = |seq: Seq| Seq(seq.0.saturating_add(1));
    let (from, to) = match after {
        Some(after) => (Some(next(after)), page.after.map(next).or(before)),
        None => {
            page.messages.reverse();
            page.calls.reverse();
            (page.before, before)
        }
    };
    page.events = events(connection, feed, from, to)?;
    Ok(page)
}

/// A feed's events from one seq up to another, exclusive.
fn events(
    connection: &Connection,
    feed: Feed,
    from: Option<Seq>,
    before: Option<Seq>,
) -> Result<Vec<Event>, ReadError> {
    let kinds = Event::RECORDS.join("', '");
    let (condition, of) = feed.sql();
    let sql = format!(
        "SELECT {COLUMNS} FROM records
         WHERE {condition} AND seq >= ?2 AND seq < ?3 AND kind IN ('{kinds}') ORDER BY seq"
    );
    let params = params![of, from.map_or(0, seq_to_sql), before.map_or(i64::MAX, seq_to_sql)];
    Ok(records(connection, &sql, params)?.iter().filter_map(Event::of).collect())
}

/// The call of a `call_assessed` record, with its current state and result.
fn call_view(connection: &Connection, record: Record) -> Result<Option<CallView>, ReadError> {
    let (RecordBody::CallAssessed(assessed), Some(task_id)) = (record.body, record.task_id) else {
        return Ok(None);
    };
    let mut statement =
        connection.prepare_cached("SELECT finished, state, attempt, started_at FROM calls WHERE seq = ?1")?;
    let read = |row: &Row<'_>| {
        let view = CallView {
            call_id: assessed.call_id,
            seq: record.seq,
            conversation_id: record.conversation_id,
            task_id,
            tool: assessed.tool,
            summary: assessed.summary,
            arguments: assessed.arguments,
            preview: assessed.preview,
            state: row.get::<_, Word<_>>(1)?.0,
            attempt: row.get(2)?,
            started_at: row.get::<_, Option<i64>>(3)?.map(Timestamp),
            ended_at: None,
            outcome: None,
            result: None,
            permission: assessed.permission,
        };
        let finished = row.get::<_, Option<i64>>(0)?.map(seq_from_sql);
        Ok((view, finished))
    };
    let stands = statement.query_row([seq_to_sql(record.seq)], read).optional()?;
    let Some((mut view, finished)) = stands else { return Ok(None) };
    if let Some(record) = finished.map(|seq| record_at(connection, seq)).transpose()?.flatten() {
        view.ended_at = Some(record.at);
        if let RecordBody::CallFinished(finished) = record.body {
            view.outcome = Some(finished.outcome);
            view.result = Some(finished.result);
        }
    }
    Ok(Some(view))
}

/// The conversation's last message up to this seq.
pub(crate) fn last_message(
    connection: &Connection,
    id: ConversationId,
    to: Seq,
) -> Result<Option<Seq>, ReadError> {
    let kinds = Message::RECORDS.join("', '");
    let feed = Feed::Roots(id);
    let (condition, of) = feed.sql();
    let sql = format!(
        "SELECT {COLUMNS} FROM records WHERE {condition} AND seq <= ?2 AND kind IN ('{kinds}') ORDER BY seq DESC"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![of, seq_to_sql(to)])?;
    while let Some(row) = rows.next()? {
        let record = record(row)?;
        if record.message().is_some() {
            return Ok(Some(record.seq));
        }
    }
    Ok(None)
}

/// The number of messages after this seq that are not the person's.
pub(crate) fn messages_of_others(
    connection: &Connection,
    id: ConversationId,
    after: Seq,
) -> Result<u64, ReadError> {
    let kinds = Message::RECORDS.join("', '");
    let feed = Feed::Roots(id);
    let (condition, of) = feed.sql();
    let sql = format!("SELECT {COLUMNS} FROM records WHERE {condition} AND seq > ?2 AND kind IN ('{kinds}')");
    let after = records(connection, &sql, params![of, seq_to_sql(after)])?;
    let news = after.iter().filter(|record| record.message().is_some_and(|message| message.is_news()));
    Ok(news.count() as u64)
}

/// The number of records up to this seq that may be messages, counted up to `enough`.
pub(crate) fn messages_up_to(
    connection: &Connection,
    id: ConversationId,
    to: Seq,
    enough: i64,
) -> rusqlite::Result<i64> {
    let kinds = Message::RECORDS.join("', '");
    let sql = format!(
        "SELECT count(*) FROM (SELECT 1 FROM records WHERE conversation = ?1 AND seq <= ?2 AND kind IN ('{kinds}') LIMIT ?3)"
    );
    connection.prepare_cached(&sql)?.query_row(params![id.0, seq_to_sql(to), enough], |row| row.get(0))
}

impl Store {
    /// At most `limit` messages before this seq (the newest if `None`) with the calls and events among them,
    /// oldest first. A page with much text or many calls has fewer messages.
    pub async fn messages(
        &self,
        feed: impl Into<Feed>,
        before: Option<Seq>,
        limit: u32,
    ) -> Result<ListMessagesReply, ReadError> {
        let feed = feed.into();
        self.read(move |connection| page(connection, feed, (None, before), page_size(limit))).await
    }

    /// The same for the first messages after a seq and before another.
    pub async fn messages_after(
        &self,
        feed: impl Into<Feed>,
        after: Seq,
        before: Option<Seq>,
        limit: u32,
    ) -> Result<ListMessagesReply, ReadError> {
        let feed = feed.into();
        self.read(move |connection| page(connection, feed, (Some(after), before), page_size(limit))).await
    }

    /// The calls among these that have a result or are unknown.
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

    /// A task's newest `limit` answers by people, oldest first.
    pub async fn task_answers(
        &self,
        conversation: ConversationId,
        task: TaskId,
        limit: usize,
    ) -> Result<Vec<Message>, ReadError> {
        self.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM records WHERE conversation = ?1 AND kind = 'question_answered' AND task = ?2
                 ORDER BY seq DESC LIMIT ?3"
            );
            let params = params![conversation.0, task.0, i64::try_from(limit).unwrap_or(i64::MAX)];
            let newest = records(connection, &sql, params)?;
            Ok(newest.iter().rev().filter_map(Record::message).collect())
        })
        .await
    }

    /// A task's calls, oldest first; only the newest calls if all would not fit in a frame.
    pub async fn task_calls(&self, id: TaskId) -> Result<TaskCalls, ReadError> {
        self.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM records
                 WHERE conversation = (SELECT conversation FROM tasks WHERE id = ?1) AND kind = 'call_assessed' AND task = ?1
                 ORDER BY seq DESC"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query([id.0])?;
            let mut found = TaskCalls { calls: Vec::new(), is_cut: false };
            let mut bytes = 0;
            while let Some(row) = rows.next()? {
                if bytes > PAGE_BYTES {
                    found.is_cut = true;
                    break;
                }
                if let Some(call) = call_view(connection, record(row)?)? {
                    bytes += ENTRY_BYTES + call_texts(&call);
                    found.calls.push(call);
                }
            }
            found.calls.reverse();
            Ok(found)
        })
        .await
    }
}
