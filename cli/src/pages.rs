//! Reads paged lists completely.

use crate::{connection::Daemon, error::CommandError};
use abide_client::protocol::{
    conversation::Conversation,
    method::{ListConversations, conversation::ListConversationsParams},
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
