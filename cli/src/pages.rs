//! Reads paged lists completely.

use crate::{connection::Daemon, error::CommandError};
use abide_client::protocol::{
    ConversationId,
    conversation::Conversation,
    method::{ListConversations, ListTasks, conversation::ListConversationsParams, task::ListTasksParams},
    task::AgentTask,
};

/// The largest page.
pub(crate) const PAGE: u32 = 1000;

/// Last changed first.
pub(crate) async fn conversations(
    daemon: &mut Daemon,
    archived: bool,
) -> Result<Vec<Conversation>, CommandError> {
    let mut conversations = Vec::new();
    let mut params = ListConversationsParams { archived, cursor: None, limit: Some(PAGE) };
    loop {
        let page = daemon.call::<ListConversations>(params.clone()).await?;
        conversations.extend(page.conversations);
        match page.next_cursor {
            Some(cursor) => params.cursor = Some(cursor),
            None => return Ok(conversations),
        }
    }
}

/// The root tasks of a conversation, newest first.
pub(crate) async fn tasks(
    daemon: &mut Daemon,
    conversation: ConversationId,
) -> Result<Vec<AgentTask>, CommandError> {
    let mut tasks = Vec::new();
    let mut params =
        ListTasksParams { conversation_id: Some(conversation), all: true, cursor: None, limit: Some(PAGE) };
    loop {
        let page = daemon.call::<ListTasks>(params.clone()).await?;
        tasks.extend(page.tasks);
        match page.next_cursor {
            Some(cursor) => params.cursor = Some(cursor),
            None => return Ok(tasks),
        }
    }
}
