//! Looks up a remembered decision by its call, and a task by its client message.

use crate::{Store, committed::ClientMessageUse, error::ReadError};
use abide_protocol::{ConversationId, TaskId};
use rusqlite::OptionalExtension as _;

impl Store {
    /// Whether the newest remembered decision on this call allows the call. Answered from memory; a decision
    /// counts as soon as its append is answered.
    #[must_use]
    pub fn rule(&self, tool: &str, arguments: &str, workspace: &str) -> Option<bool> {
        self.rules.look_up(tool, arguments, workspace)
    }

    /// The task that a request with this client message id has started.
    pub async fn client_message(&self, id: &str) -> Result<Option<ClientMessageUse>, ReadError> {
        let id = id.to_owned();
        self.read(move |connection| Ok(client_message(connection, &id)?)).await
    }
}

pub(crate) fn client_message(
    connection: &rusqlite::Connection,
    id: &str,
) -> rusqlite::Result<Option<ClientMessageUse>> {
    let mut statement =
        connection.prepare_cached("SELECT digest, task, conversation FROM client_messages WHERE id = ?1")?;
    statement
        .query_row([id], |row| {
            Ok(ClientMessageUse {
                digest: row.get(0)?,
                task_id: TaskId(row.get(1)?),
                conversation_id: ConversationId(row.get(2)?),
            })
        })
        .optional()
}
