//! Accepts a task's id for its conversation, and recognizes ids of the wrong kind.

use crate::{connection::Daemon, error::CommandError};
use abide_client::protocol::{
    ConversationId,
    method::{
        GetConversation, GetTask, Method,
        conversation::{ConversationParams, ConversationReply},
        task::TaskParams,
    },
};

/// The conversation with this id, or that of the task with this id. For commands that read a conversation or
/// continue it.
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

/// Only a conversation's id: a conversation is not changed or deleted by a task's id.
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

/// Calls a method on the task with this id.
pub(crate) async fn on_task<M: Method<Params = TaskParams>>(id: String) -> Result<M::Reply, CommandError> {
    let mut daemon = Daemon::started().await?;
    match daemon.call::<M>(TaskParams { task_id: id.clone() }).await {
        Ok(reply) => Ok(reply),
        Err(error) => Err(not_a_task(&mut daemon, &id, error).await),
    }
}

/// A clearer error if the id is a conversation's.
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
