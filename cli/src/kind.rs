//! Ids of the other kind: a task's where a conversation's is wanted, and the other way round.

use crate::{connection::Daemon, error::CommandError};
use abide_client::protocol::{
    ConversationId,
    method::{
        GetConversation, GetTask, Method,
        conversation::{ConversationParams, ConversationReply},
        task::TaskParams,
    },
};

/// The conversation of this id, or the one that the task of this id belongs to. For what only looks or goes on.
pub(crate) async fn conversation(daemon: &mut Daemon, id: &str) -> Result<ConversationId, CommandError> {
    let missing = match named(daemon, id).await {
        Ok(reply) => return Ok(reply.conversation.id),
        Err(error) => error,
    };
    if !missing.is_not_found() {
        return Err(missing);
    }
    let task = daemon.call::<GetTask>(TaskParams { task_id: id.to_owned() }.into()).await;
    task.map(|reply| reply.task.conversation_id).map_err(|_| missing)
}

/// Only a conversation: what changes or deletes one is not done to a conversation that nobody named.
pub(crate) async fn only_conversation(
    daemon: &mut Daemon,
    id: &str,
) -> Result<ConversationReply, CommandError> {
    let missing = match named(daemon, id).await {
        Ok(reply) => return Ok(reply),
        Err(error) => error,
    };
    if !missing.is_not_found() {
        return Err(missing);
    }
    match daemon.call::<GetTask>(TaskParams { task_id: id.to_owned() }.into()).await {
        Ok(reply) => {
            Err(CommandError::failed(format!("{} is a task, not a conversation", reply.task.id.short()))
                .hinted(format!("its conversation is {}", reply.task.conversation_id.short())))
        }
        Err(_) => Err(missing),
    }
}

/// Does something to a task of this id.
pub(crate) async fn on_task<M: Method<Params = TaskParams>>(id: String) -> Result<M::Reply, CommandError> {
    let mut daemon = Daemon::started().await?;
    match daemon.call::<M>(TaskParams { task_id: id.clone() }).await {
        Ok(reply) => Ok(reply),
        Err(error) => Err(not_a_task(&mut daemon, &id, error).await),
    }
}

/// Says so if the id for which there is no task is a conversation's.
pub(crate) async fn not_a_task(daemon: &mut Daemon, id: &str, error: CommandError) -> CommandError {
    if !error.is_not_found() {
        return error;
    }
    let Ok(ConversationReply { conversation }) = named(daemon, id).await else { return error };
    let words = format!("{} is a conversation, not a task", conversation.id.short());
    CommandError::failed(words).hinted(match conversation.task {
        Some(task) => format!("its newest task is {}", task.id.short()),
        None => "it has no task yet".to_owned(),
    })
}

async fn named(daemon: &mut Daemon, id: &str) -> Result<ConversationReply, CommandError> {
    daemon.call::<GetConversation>(ConversationParams { conversation_id: id.to_owned() }).await
}
