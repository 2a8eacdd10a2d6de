//! Conversations.

use super::{Cursor, page_size};
use crate::{
    Store,
    column::{Word, at, count},
    error::ReadError,
};
use abide_protocol::{
    ConversationId, TaskId, Timestamp,
    conversation::{Conversation, LatestTask},
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

const SELECT: &str =
    "SELECT c.id, c.title, c.workspace, c.mode, c.model, c.persona, c.created_at, c.updated_at, c.archived,
        c.unread, c.task, t.status, t.brief ->> '$.endReason', t.brief ->> '$.incomplete', c.muted, c.memory
    FROM conversations c LEFT JOIN tasks t ON t.id = c.task";

fn from_row(row: &Row<'_>) -> rusqlite::Result<Conversation> {
    let task: Option<_> = row.get(10)?;
    let status: Option<Word<_>> = row.get(11)?;
    let end_reason: Option<Word<_>> = row.get(12)?;
    let incomplete: Option<Word<_>> = row.get(13)?;
    Ok(Conversation {
        id: ConversationId(row.get(0)?),
        title: row.get(1)?,
        workspace: row.get(2)?,
        mode: row.get::<_, Option<Word<_>>>(3)?.map(|word| word.0),
        model: row.get(4)?,
        persona: row.get(5)?,
        created_at: at(row, 6)?,
        updated_at: at(row, 7)?,
        archived: row.get(8)?,
        muted: row.get(14)?,
        memory: row.get::<_, Word<_>>(15)?.0,
        unread: count(row, 9)?,
        task: task.zip(status).map(|(id, status)| LatestTask {
            id: TaskId(id),
            status: status.0,
            end_reason: end_reason.map(|word| word.0),
            incomplete: incomplete.map(|word| word.0),
        }),
    })
}

pub(crate) fn conversation(
    connection: &Connection,
    id: ConversationId,
) -> rusqlite::Result<Option<Conversation>> {
    connection.prepare_cached(&format!("{SELECT} WHERE c.id = ?1"))?.query_row([id.0], from_row).optional()
}

/// Adds to a conversation's unread count and sets its time of change. Returns the new row.
pub(crate) fn touch_conversation(
    connection: &Connection,
    id: ConversationId,
    unread: u64,
    at: Timestamp,
) -> rusqlite::Result<Option<Conversation>> {
    connection
        .prepare_cached(
            "UPDATE conversations SET unread = unread + ?2, updated_at = max(updated_at, ?3) WHERE id = ?1
             RETURNING id, title, workspace, mode, model, persona, created_at, updated_at, archived, unread, task,
                 (SELECT status FROM tasks WHERE tasks.id = conversations.task),
                 (SELECT brief ->> '$.endReason' FROM tasks WHERE tasks.id = conversations.task),
                 (SELECT brief ->> '$.incomplete' FROM tasks WHERE tasks.id = conversations.task),
                 muted, memory",
        )?
        .query_row(params![id.0, unread.cast_signed(), at.0], from_row)
        .optional()
}

/// Most recently changed first; with the cursor of the next page.
pub(super) fn conversations(
    connection: &Connection,
    archived: bool,
    cursor: Cursor,
    limit: usize,
) -> rusqlite::Result<(Vec<Conversation>, Option<Cursor>)> {
    let sql = format!(
        "{SELECT} WHERE c.archived = ?1 AND (c.updated_at, c.id) < (?2, ?3) ORDER BY c.updated_at DESC, c.id DESC LIMIT ?4"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params![archived, cursor.at, cursor.id, limit as i64 + 1], from_row)?;
    let mut page = rows.collect::<Result<Vec<_>, _>>()?;
    let more = page.len() > limit;
    page.truncate(limit);
    let next = page.last().filter(|_| more).map(|last| Cursor { at: last.updated_at.0, id: last.id.0 });
    Ok((page, next))
}

/// The conversations with a root task that has not ended, archived or not.
pub(super) fn with_unfinished_task(connection: &Connection) -> rusqlite::Result<Vec<Conversation>> {
    let sql = format!(
        "{SELECT} WHERE c.id IN (SELECT conversation FROM tasks WHERE ended = 0 AND parent IS NULL)
         ORDER BY c.updated_at DESC, c.id DESC"
    );
    connection.prepare_cached(&sql)?.query_map([], from_row)?.collect()
}

/// Parameters of [`Store::conversations`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConversationQuery {
    /// Archived conversations if true, the others if false.
    pub archived: bool,
    /// The cursor that came with the page before.
    pub cursor: Option<String>,
    /// The most conversations on the page.
    pub limit: u32,
}

impl Store {
    /// A conversation, if there is one with that id.
    pub async fn conversation(&self, id: ConversationId) -> Result<Option<Conversation>, ReadError> {
        self.read(move |connection| Ok(conversation(connection, id)?)).await
    }

    /// Most recently changed first; with the cursor of the next page, if there is one.
    pub async fn conversations(
        &self,
        query: ConversationQuery,
    ) -> Result<(Vec<Conversation>, Option<String>), ReadError> {
        let ConversationQuery { archived, cursor, limit } = query;
        let cursor = Cursor::parse(cursor.as_deref())?;
        self.read(move |connection| {
            let (page, next) = conversations(connection, archived, cursor, page_size(limit))?;
            Ok((page, next.map(Cursor::to_text)))
        })
        .await
    }
}
