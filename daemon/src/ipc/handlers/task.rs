use super::{find_task, refused, storage};
use crate::ipc::Service;
use abide_engine::Input;
use abide_protocol::{
    ConversationId, Error, ErrorKind, TaskId,
    method::task::{GetTaskReply, ListTasksParams, ListTasksReply, TaskParams, TaskReply},
};

/// A page, if the request names no size.
pub(super) const PAGE: u32 = 100;

pub(super) async fn stop(service: &Service, params: &TaskParams) -> Result<TaskReply, Error> {
    control(service, params, |task| Input::Stop { task, shown: String::new() }).await
}

pub(super) async fn pause(service: &Service, params: &TaskParams) -> Result<TaskReply, Error> {
    control(service, params, |task| Input::Pause { task }).await
}

pub(super) async fn resume(service: &Service, params: &TaskParams) -> Result<TaskReply, Error> {
    control(service, params, |task| Input::Resume { task }).await
}

async fn control(
    service: &Service,
    params: &TaskParams,
    input: impl FnOnce(TaskId) -> Input,
) -> Result<TaskReply, Error> {
    let (task, conversation) = place(service, &params.task_id).await?;
    let applied = service.sessions.command(conversation, input(task)).await.map_err(|e| refused(&e))?;
    let task = applied.task.ok_or_else(|| Error::new(ErrorKind::NotFound, "the task is gone"))?;
    Ok(TaskReply { task })
}

/// The task that is meant, and its conversation.
pub(super) async fn place(service: &Service, typed: &str) -> Result<(TaskId, ConversationId), Error> {
    let task = find_task(&service.store, typed).await?;
    let conversation = service.store.conversation_of(task).await.map_err(storage)?;
    let conversation =
        conversation.ok_or_else(|| Error::new(ErrorKind::NotFound, "the task's conversation was deleted"))?;
    Ok((task, conversation))
}

pub(super) async fn list(service: &Service, params: ListTasksParams) -> Result<ListTasksReply, Error> {
    let ListTasksParams { conversation_id, all, cursor, limit } = params;
    let (tasks, next_cursor) =
        service.store.tasks(conversation_id, all, cursor, limit.unwrap_or(PAGE)).await.map_err(storage)?;
    Ok(ListTasksReply { tasks, next_cursor })
}

pub(super) async fn get(service: &Service, params: &TaskParams) -> Result<GetTaskReply, Error> {
    let (id, conversation) = place(service, &params.task_id).await?;
    let gone = || Error::new(ErrorKind::NotFound, "the task is gone");
    let task = service.store.task(id).await.map_err(storage)?.ok_or_else(gone)?;
    let conversation = service.store.conversation(conversation).await.map_err(storage)?.ok_or_else(gone)?;
    let calls = service.store.task_calls(id).await.map_err(storage)?;
    Ok(GetTaskReply {
        task,
        conversation_title: conversation.title,
        workspace: conversation.workspace,
        calls,
    })
}
