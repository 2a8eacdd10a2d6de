//! The end of a conversation that goes on.

use crate::{
    clock,
    connection::Daemon,
    error::CommandError,
    output::{
        call::Extent,
        message, screen,
        style::{FAINT, paint},
        text,
    },
};
use abide_client::protocol::{
    ConversationId,
    method::{
        ListMessages, MarkRead,
        conversation::{ListMessagesParams, MarkReadParams},
    },
};

/// How many messages are shown.
const LAST: u32 = 4;

/// Prints the last messages, and how to see the earlier ones.
pub(super) async fn show(daemon: &mut Daemon, conversation: ConversationId) -> Result<(), CommandError> {
    let id = conversation.to_string();
    let params = ListMessagesParams {
        conversation_id: id.clone(),
        task_id: None,
        before: None,
        after: None,
        limit: Some(LAST),
    };
    let reply = daemon.call::<ListMessages>(params).await?;
    let Some(newest) = reply.messages.last().map(|message| message.seq) else { return Ok(()) };
    if reply.before.is_some() {
        let words = format!("earlier messages: abide messages {}", conversation.short());
        screen::note(&paint(FAINT, &words))?;
    }
    let look = message::Look {
        extent: Extent::Tail,
        now: clock::now(),
        width: text::terminal_width(),
        is_rich: screen::is_rich(),
    };
    // What the calls did is not part of what was said.
    screen::print(&format!("\n{}\n", message::conversation(&reply.messages, &[], &reply.events, &look)))?;
    if screen::is_seen() {
        daemon.call::<MarkRead>(MarkReadParams { conversation_id: id, seq: newest }).await?;
    }
    Ok(())
}
