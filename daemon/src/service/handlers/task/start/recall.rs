//! What a task that starts is given of other conversations.

use crate::{
    recall::{self, Found},
    service::Service,
};
use abide_engine::recalls;
use abide_protocol::{
    ConversationId,
    conversation::Conversation,
    memory::MemoryUse,
    message::Role,
    record::{Recalled, TaskStarted},
};
use abide_store::{Feed, ReadError, RecallQuery};

/// How many of the conversation's newest messages are looked through for one of the agent.
const RECENT: u32 = 8;
/// How much of it counts for what the task is about, in bytes.
const TAIL: usize = 400;

/// Looks for what has to do with the task. A failure is in the record, and never fails the task.
pub(super) async fn recall(
    service: &Service,
    conversation: ConversationId,
    existing: Option<&Conversation>,
    head: &TaskStarted,
) -> Option<Recalled> {
    let is_wanted = existing.is_none_or(|existing| existing.memory != MemoryUse::NoRecall);
    if !is_wanted || !recalls(head.mode) || !service.settings.now().await.config().memory.enabled {
        return None;
    }
    recall::in_time(find(service, conversation, existing.is_some(), head)).await
}

async fn find(
    service: &Service,
    conversation: ConversationId,
    is_known: bool,
    head: &TaskStarted,
) -> Result<Found, ReadError> {
    let workspaces = recall::scope(&head.workspace).await;
    if !service.store.remembers(conversation, &workspaces).await? {
        return Ok(Found::NOTHING);
    }
    let said = if is_known { said_last(service, conversation).await? } else { String::new() };
    let query = RecallQuery {
        texts: &[&head.original_prompt, &said],
        workspaces: Some(&workspaces),
        except: Some(conversation),
        limit: recall::MOST,
        at_start: true,
        ..RecallQuery::default()
    };
    recall::search(&service.store, &service.embedder, query).await
}

/// The end of the agent's newest message, which the prompt may be an answer to.
async fn said_last(service: &Service, conversation: ConversationId) -> Result<String, ReadError> {
    let page = service.store.messages(Feed::Roots(conversation), None, RECENT).await?;
    let said = page.messages.into_iter().rev().find(|message| message.role == Role::Agent);
    let text = said.map(|message| message.text).unwrap_or_default();
    Ok(text[text.floor_char_boundary(text.len().saturating_sub(TAIL))..].to_owned())
}
