use super::{
    RequestError, existing, find_conversation,
    task::{self, PAGE},
    worktree,
};
use crate::{launch, service::Service};
use abide_engine::Command;
use abide_protocol::{
    ConversationId, Error, ErrorKind,
    limits::MAX_TITLE,
    method::conversation::{
        ArchiveConversationParams, ConversationParams, ConversationReply, CreateConversationParams,
        DeleteConversationReply, ListConversationsParams, ListConversationsReply, ListMessagesParams,
        ListMessagesReply, MarkReadParams, UpdateConversationParams,
    },
    record::{ConversationCreated, ConversationUpdated},
};
use abide_store::{ConversationQuery, Feed};

pub(super) async fn create(
    service: &Service,
    params: CreateConversationParams,
) -> Result<ConversationReply, RequestError> {
    let CreateConversationParams { title, workspace, mode, model, persona, memory } = params;
    service.launcher.check(persona.as_deref(), model.as_deref()).await?;
    let mut folder = service.launcher.own_folder(None);
    let id = folder.conversation();
    let given = title.as_deref().filter(|title| !title.trim().is_empty());
    let facts = ConversationCreated {
        title: given.map(named).transpose()?.unwrap_or_else(|| launch::title("")),
        workspace: service.launcher.workspace(id, workspace.as_deref()).await?,
        mode,
        model,
        persona,
        memory: memory.unwrap_or_default(),
    };
    let created = folder.begin(service.sessions.command(id, Command::Create(facts))).await;
    folder.settle().await;
    created?;
    reply(service, id).await
}

async fn reply(service: &Service, id: ConversationId) -> Result<ConversationReply, RequestError> {
    Ok(ConversationReply { conversation: existing(&service.store, id).await? })
}

pub(super) async fn list(
    service: &Service,
    params: ListConversationsParams,
) -> Result<ListConversationsReply, RequestError> {
    let ListConversationsParams { archived, cursor, limit } = params;
    let query = ConversationQuery { archived, cursor, limit: limit.unwrap_or(PAGE) };
    let (conversations, next_cursor) = service.store.conversations(query).await?;
    Ok(ListConversationsReply { conversations, next_cursor })
}

pub(super) async fn get(
    service: &Service,
    params: &ConversationParams,
) -> Result<ConversationReply, RequestError> {
    let id = find_conversation(&service.store, &params.conversation_id).await?;
    reply(service, id).await
}

pub(super) async fn messages(
    service: &Service,
    params: &ListMessagesParams,
) -> Result<ListMessagesReply, RequestError> {
    let id = find_conversation(&service.store, &params.conversation_id).await?;
    let feed = match &params.task_id {
        None => Feed::Roots(id),
        Some(typed) => match task::locate(service, typed).await? {
            (task, conversation) if conversation == id => Feed::Task(id, task),
            (task, _) => {
                let words = format!("task {} is not of conversation {}", task.short(), id.short());
                return Err(Error::new(ErrorKind::InvalidParams, words).about(task).into());
            }
        },
    };
    let limit = params.limit.unwrap_or(PAGE);
    Ok(match params.after {
        Some(after) => service.store.messages_after(feed, after, params.before, limit).await?,
        None => service.store.messages(feed, params.before, limit).await?,
    })
}

pub(super) async fn update(
    service: &Service,
    params: UpdateConversationParams,
) -> Result<ConversationReply, RequestError> {
    let UpdateConversationParams { conversation_id, title, workspace, mode, model, persona, muted, memory } =
        params;
    let id = find_conversation(&service.store, &conversation_id).await?;
    service.launcher.check(persona.as_deref(), model.as_deref()).await?;
    let workspace = match workspace {
        Some(path) => Some(service.launcher.workspace(id, Some(&path)).await?),
        None => None,
    };
    let title = title.as_deref().map(named).transpose()?;
    let update = ConversationUpdated { title, workspace, mode, model, persona, muted, memory };
    service.sessions.command(id, Command::Update(update)).await?;
    reply(service, id).await
}

/// A title given by a person: kept whole, or refused.
fn named(title: &str) -> Result<String, Error> {
    let invalid = |words: String| Error::new(ErrorKind::InvalidParams, words);
    let line = launch::first_line(title)
        .filter(|line| !line.is_empty())
        .ok_or_else(|| invalid("the title is empty; the conversation keeps its own".to_owned()))?;
    if line.len() > MAX_TITLE {
        let words = format!("the title has {} bytes, over the limit of {MAX_TITLE}", line.len());
        return Err(invalid(words));
    }
    Ok(line)
}

pub(super) async fn archive(
    service: &Service,
    params: &ArchiveConversationParams,
) -> Result<ConversationReply, RequestError> {
    let id = find_conversation(&service.store, &params.conversation_id).await?;
    service.sessions.command(id, Command::Archive { archived: params.archived }).await?;
    reply(service, id).await
}

pub(super) async fn delete(
    service: &Service,
    params: &ConversationParams,
) -> Result<DeleteConversationReply, RequestError> {
    let id = find_conversation(&service.store, &params.conversation_id).await?;
    worktree::refuse_unmerged(service, id).await?;
    let records = service.sessions.delete(id).await?;
    service.launcher.remove_own(id).await;
    Ok(DeleteConversationReply { records })
}

pub(super) async fn mark_read(
    service: &Service,
    params: &MarkReadParams,
) -> Result<ConversationReply, RequestError> {
    let id = find_conversation(&service.store, &params.conversation_id).await?;
    let conversation = service.store.mark_read(id, params.seq).await?;
    Ok(ConversationReply { conversation })
}
