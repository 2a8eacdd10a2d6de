//! What a task that starts is given of other conversations.

use crate::{
    recall::{self, Found},
    service::Service,
};
use abide_engine::recalls;
use abide_protocol::{
    ConversationId,
    conversation::Conversation,
    memory::{MemoryUse, Source},
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
    memory: MemoryUse,
    head: &TaskStarted,
) -> Option<Recalled> {
    if memory == MemoryUse::NoRecall || !service.settings.now().await.config().memory.enabled {
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
    let query = RecallQuery {
        workspaces: Some(&workspaces),
        except: Some(conversation),
        at_start: true,
        ..RecallQuery::default()
    };
    if !recalls(head.mode) {
        return Ok(match service.store.remembers(conversation, &workspaces).await? {
            true => notes(service, query).await?,
            false => Found::NOTHING,
        });
    }
    let said = if is_known { said_last(service, conversation).await? } else { String::new() };
    let query = RecallQuery { texts: &[&head.original_prompt, &said], limit: recall::MOST, ..query };
    recall::search(&service.store, &service.embedder, query).await
}

/// What each task is given, whatever it is about.
async fn notes(service: &Service, query: RecallQuery<'_>) -> Result<Found, ReadError> {
    let mut snippets = service.store.recall(query).await?;
    snippets.retain(|snippet| snippet.source == Source::Note);
    Ok(Found { snippets, ..Found::NOTHING })
}

/// The end of the agent's newest message, which the prompt may be an answer to.
async fn said_last(service: &Service, conversation: ConversationId) -> Result<String, ReadError> {
    let page = service.store.messages(Feed::Roots(conversation), None, RECENT).await?;
    let said = page.messages.into_iter().rev().find(|message| message.role == Role::Agent);
    let text = said.map(|message| message.text).unwrap_or_default();
    Ok(text[text.floor_char_boundary(text.len().saturating_sub(TAIL))..].to_owned())
}
