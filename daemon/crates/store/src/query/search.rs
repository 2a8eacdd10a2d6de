//! Search in messages and titles.

mod excerpt;
mod words;

use super::{
    page_size,
    record::{COLUMNS, record},
};
use crate::{
    Store,
    column::{seq, seq_to_sql},
    error::{ReadError, WriteError},
};
use abide_protocol::{
    ConversationId, Seq,
    message::Message,
    method::search::{MessageHit, SearchReply, TitleHit},
};
use excerpt::excerpt;
use rusqlite::{Connection, params};
use std::ops::ControlFlow;
use words::Words;

pub(crate) use words::tokens;

/// The seq up to which messages are indexed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) searched_to: Seq,
    pub(crate) newest: Seq,
}

pub(crate) fn search_progress(connection: &Connection) -> rusqlite::Result<Progress> {
    connection
        .prepare_cached("SELECT p.seq, (SELECT coalesce(max(seq), 0) FROM records) FROM search_progress p")?
        .query_row([], |row| Ok(Progress { searched_to: seq(row, 0)?, newest: seq(row, 1)? }))
}

/// Calls a function with each message after one seq up to another, in order, until it breaks.
pub(crate) fn each_message<E: From<ReadError>>(
    connection: &Connection,
    after: Seq,
    to: Seq,
    mut visit: impl FnMut(Message) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let kinds = Message::RECORDS.join("', '");
    let sql = format!(
        "SELECT {COLUMNS} FROM records WHERE seq > ?1 AND seq <= ?2 AND kind IN ('{kinds}') ORDER BY seq"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(ReadError::from)?;
    let mut rows = statement.query([seq_to_sql(after), seq_to_sql(to)]).map_err(ReadError::from)?;
    while let Some(row) = rows.next().map_err(ReadError::from)? {
        if let Some(message) = record(row)?.message()
            && visit(message)?.is_break()
        {
            break;
        }
    }
    Ok(())
}

fn titles(connection: &Connection, words: &Words, limit: usize) -> Result<Vec<TitleHit>, ReadError> {
    let mut statement = connection
        .prepare_cached("SELECT id, archived, title FROM conversations ORDER BY updated_at DESC, id DESC")?;
    let mut rows = statement.query([])?;
    let mut hits = Vec::new();
    while let Some(row) = rows.next()?
        && hits.len() < limit
    {
        let title = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
        if words.are_all_in(title) {
            let title = excerpt(title, words);
            hits.push(TitleHit {
                conversation_id: ConversationId(row.get(0)?),
                archived: row.get(1)?,
                title,
            });
        }
    }
    Ok(hits)
}

/// Newest first: `limit` messages, and one more if there are more.
fn messages(
    connection: &Connection,
    words: &Words,
    conversation: Option<ConversationId>,
    before: Option<Seq>,
    limit: usize,
) -> Result<Vec<MessageHit>, ReadError> {
    // `+` makes SQLite use the search index instead of the conversation's.
    let sql =
        "SELECT r.seq, r.id, r.conversation, r.task, r.at, r.kind, r.version, r.body, r.checksum, c.title, c.archived
         FROM search s JOIN records r ON r.seq = s.rowid JOIN conversations c ON c.id = r.conversation
         WHERE s.text MATCH ?1 AND s.rowid < ?2 AND (?3 IS NULL OR +r.conversation = ?3)
         ORDER BY s.rowid DESC LIMIT ?4";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![
        words.to_match(),
        before.map_or(i64::MAX, seq_to_sql),
        conversation.map(|id| id.0),
        limit as i64 + 1,
    ])?;
    let mut hits = Vec::new();
    while let Some(row) = rows.next()? {
        if let Some(message) = record(row)?.message() {
            hits.push(MessageHit {
                conversation_id: message.conversation_id,
                conversation_title: row.get(9)?,
                archived: row.get(10)?,
                message_id: message.id,
                seq: message.seq,
                task_id: message.task_id,
                at: message.at,
                role: message.role,
                kind: message.kind,
                line: excerpt(&message.text, words),
            });
        }
    }
    Ok(hits)
}

/// Parameters of [`Store::search`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SearchQuery<'a> {
    /// All of these words have to match.
    pub words: &'a str,
    /// `None`: all conversations.
    pub conversation: Option<ConversationId>,
    /// Only messages before this one.
    pub before: Option<Seq>,
    /// The most messages to return.
    pub limit: u32,
}

impl Store {
    /// Messages and titles, newest first. The first search after many appends takes longer, because it
    /// updates the index.
    pub async fn search(&self, query: SearchQuery<'_>) -> Result<SearchReply, ReadError> {
        match self.search_once(query).await {
            // The index may have damage that SQLite does not report as such.
            Err(ReadError::Sqlite(_) | ReadError::Index(WriteError::Invalid { .. })) => {
                let _ = self.repair().await;
                self.search_once(query).await
            }
            found => found,
        }
    }

    async fn search_once(&self, query: SearchQuery<'_>) -> Result<SearchReply, ReadError> {
        let SearchQuery { words, conversation, before, limit } = query;
        self.update_search_index().await?;
        let words = Words::parse(words);
        let limit = page_size(limit);
        // After a repair the index is empty, so the search is repeated with an update of the index.
        self.read_once(move |connection| {
            let searched_to = search_progress(connection)?.searched_to;
            let mut reply =
                SearchReply { titles: Vec::new(), messages: Vec::new(), before: None, searched_to };
            if words.is_empty() {
                return Ok(reply);
            }
            if conversation.is_none() && before.is_none() {
                reply.titles = titles(connection, &words, limit)?;
            }
            reply.messages = messages(connection, &words, conversation, before, limit)?;
            if reply.messages.len() > limit {
                reply.messages.truncate(limit);
                reply.before = reply.messages.last().map(|hit| hit.seq);
            }
            Ok(reply)
        })
        .await
    }
}
