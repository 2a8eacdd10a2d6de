//! Open questions and approvals.

use super::task::{TREE, TreePosition, place};
use crate::{Store, error::ReadError};
use abide_protocol::{ConversationId, TaskId, inbox::InboxItem};
use rusqlite::{Connection, ToSql, params};

/// Which items to list.
#[derive(Debug, Clone, Copy)]
pub(super) enum Of {
    All,
    /// Items of this task and its sub-tasks.
    Task(TaskId),
    Conversation(ConversationId),
}

/// Oldest first.
pub(super) fn items(connection: &Connection, of: Of) -> Result<Vec<InboxItem>, ReadError> {
    let (filter, id) = match of {
        Of::All => ("?1 IS NULL".to_owned(), None),
        Of::Task(id) => (format!("i.task IN ({TREE})"), Some(id.0)),
        Of::Conversation(id) => ("i.conversation = ?1".to_owned(), Some(id.0)),
    };
    let sql = format!(
        "SELECT i.task, i.conversation, c.title, i.item FROM inbox i JOIN conversations c ON c.id = i.conversation
         WHERE i.item IS NOT NULL AND {filter} ORDER BY i.at, i.id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let params: &[&dyn ToSql] = params![id];
    let mut rows = statement.query(params)?;
    let mut items = Vec::new();
    while let Some(row) = rows.next()? {
        let item = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
        let task_id = TaskId(row.get(0)?);
        let TreePosition { root, title, depth } = place(connection, task_id)?;
        items.push(InboxItem {
            task_id,
            conversation_id: ConversationId(row.get(1)?),
            conversation_title: row.get(2)?,
            pending: serde_json::from_str(item).map_err(ReadError::Inbox)?,
            root_id: root,
            title,
            depth,
        });
    }
    Ok(items)
}

/// The number of open items.
pub(crate) fn open_items(connection: &Connection) -> rusqlite::Result<u64> {
    connection
        .query_row("SELECT count(*) FROM inbox WHERE item IS NOT NULL", [], |row| row.get(0))
        .map(i64::cast_unsigned)
}

impl Store {
    /// Open questions and approvals, oldest first, of one task and its sub-tasks or of all.
    pub async fn inbox(&self, task: Option<TaskId>) -> Result<Vec<InboxItem>, ReadError> {
        self.read(move |connection| items(connection, task.map_or(Of::All, Of::Task))).await
    }
}
