mod files;
mod intervene;
mod start;

pub(super) use files::{changes, undo};
pub(super) use intervene::intervene;
pub(super) use start::start;

use super::{RequestError, find_conversation, find_task};
use crate::{
    clock,
    service::{Caller, Service},
    session::{CommandError, FILES_AT_REST},
};
use abide_engine::{Command, Manifest, Refusal, SCRATCHPAD_LINES, scratchpad};
use abide_protocol::task::AgentTask;
use abide_protocol::{
    ConversationId, Error, ErrorKind, TaskId,
    event::StartedEvent,
    measure::ago,
    method::task::{
        AgentTreeParams, AgentTreeReply, GetTaskParams, GetTaskReply, ListFilesReply, ListTasksParams,
        ListTasksReply, TaskParams, TaskReply,
    },
};
use abide_store::{TaskCalls, TaskQuery, TreeOf};
use std::time::Duration;

/// The size of a page if the request names none.
pub(super) const PAGE: u32 = 100;

pub(super) async fn stop(service: &Service, params: &TaskParams) -> Result<TaskReply, RequestError> {
    control(service, &params.task_id, |task| Command::Stop { task }).await
}

pub(super) async fn pause(service: &Service, params: &TaskParams) -> Result<TaskReply, RequestError> {
    control(service, &params.task_id, |task| Command::Pause { task }).await
}

pub(super) async fn resume(
    service: &Service,
    caller: &Caller,
    params: &TaskParams,
) -> Result<TaskReply, RequestError> {
    control(service, &params.task_id, |task| Command::Resume { task, by: Some(caller.by()) }).await
}

pub(super) async fn control(
    service: &Service,
    typed: &str,
    command: impl FnOnce(TaskId) -> Command,
) -> Result<TaskReply, RequestError> {
    let (task, conversation) = locate(service, typed).await?;
    let applied = match service.sessions.command(conversation, command(task)).await {
        Ok(applied) => applied,
        // The actor knows only the newest root task and its sub-tasks; the store knows all tasks.
        Err(CommandError::Refused(Refusal::Ended(_) | Refusal::NoTask | Refusal::NotPaused)) => {
            return Err(explain_state(service, task).await?.into());
        }
        Err(e) => return Err(e.into()),
    };
    let task = applied.task.ok_or_else(|| Error::new(ErrorKind::NotFound, "the task is gone"))?;
    Ok(TaskReply { task: *task })
}

/// Why a task cannot be stopped, paused or resumed: its current state.
async fn explain_state(service: &Service, id: TaskId) -> Result<Error, RequestError> {
    let Some(task) = service.store.task(id).await? else {
        return Ok(Error::new(ErrorKind::NotFound, "the task is gone").about(id));
    };
    let id = task.id.short();
    let words = match (task.end_reason, task.ended_at) {
        (Some(reason), Some(at)) => {
            format!("task {id} has ended already: {}, {}", reason.name(), ago(at, clock::now()))
        }
        _ => format!("task {id} is not paused: it is {}", task.status.name()),
    };
    Ok(Error::new(ErrorKind::IllegalState, words).about(task.id))
}

/// A task as it stands.
pub(super) async fn find(service: &Service, typed: &str) -> Result<AgentTask, RequestError> {
    let (task, _) = locate(service, typed).await?;
    let gone = || Error::new(ErrorKind::NotFound, "the task is gone");
    Ok(service.store.task(task).await?.ok_or_else(gone)?)
}

/// The task with this id, and its conversation.
pub(super) async fn locate(service: &Service, typed: &str) -> Result<(TaskId, ConversationId), RequestError> {
    let task = find_task(&service.store, typed).await?;
    Ok((task, conversation_of(service, task).await?))
}

pub(super) async fn conversation_of(service: &Service, task: TaskId) -> Result<ConversationId, RequestError> {
    let conversation = service.store.conversation_of(task).await?;
    Ok(conversation
        .ok_or_else(|| Error::new(ErrorKind::NotFound, "the task's conversation was deleted").about(task))?)
}

pub(super) async fn list(service: &Service, params: ListTasksParams) -> Result<ListTasksReply, RequestError> {
    let ListTasksParams { conversation_id: conversation, all: with_ended, cursor, limit } = params;
    let query = TaskQuery { conversation, with_ended, cursor, limit: limit.unwrap_or(PAGE) };
    let (tasks, next_cursor) = service.store.tasks(query).await?;
    Ok(ListTasksReply { tasks, next_cursor })
}

pub(super) async fn files(service: &Service, params: &TaskParams) -> Result<ListFilesReply, RequestError> {
    let (task, conversation) = locate(service, &params.task_id).await?;
    let files = service.store.task_files(conversation, task).await?;
    Ok(ListFilesReply { files: files.into_iter().collect::<Manifest>().into_files() })
}

pub(super) async fn tree(
    service: &Service,
    params: &AgentTreeParams,
) -> Result<AgentTreeReply, RequestError> {
    let of = match (&params.task_id, &params.conversation_id) {
        (Some(task), None) => TreeOf::Task(find_task(&service.store, task).await?),
        (None, Some(conversation)) => {
            TreeOf::Conversation(find_conversation(&service.store, conversation).await?)
        }
        (None, None) => TreeOf::Everything,
        (Some(_), Some(_)) => {
            let words = "name a task or a conversation, not both";
            return Err(Error::new(ErrorKind::InvalidParams, words).into());
        }
    };
    let agents = service.store.tree(of, params.all).await?;
    Ok(AgentTreeReply { agents: agents.into_iter().map(|agent| (agent.task.id, agent)).collect() })
}

pub(super) async fn get(service: &Service, params: &GetTaskParams) -> Result<GetTaskReply, RequestError> {
    let (id, conversation) = locate(service, &params.task_id).await?;
    let gone = || Error::new(ErrorKind::NotFound, "the task is gone");
    let mut task = service.store.task(id).await?.ok_or_else(gone)?;
    // Only then may its last checkpoint be missing.
    let since_end = task.ended_at.map(|at| Duration::from_millis(clock::now().since(at)));
    let has_just_ended = since_end.is_some_and(|since| since < FILES_AT_REST);
    if has_just_ended && task.parent_id.is_none() {
        service.sessions.files_at_rest(conversation).await?;
    }
    let answers = service.store.task_answers(conversation, id, SCRATCHPAD_LINES).await?;
    let head = service.store.task_head(conversation, id).await?;
    let conversation = service.store.conversation(conversation).await?.ok_or_else(gone)?;
    let TaskCalls { calls, is_cut: calls_cut } = service.store.task_calls(id).await?;
    task.scratchpad = scratchpad(&calls, &answers);
    let history = match params.history {
        true => Some(service.store.task_history(conversation.id, id).await?),
        false => None,
    };
    Ok(GetTaskReply {
        task,
        conversation_title: conversation.title,
        workspace: conversation.workspace,
        calls,
        history,
        calls_cut,
        started: head.map(|head| Box::new(StartedEvent::from(&*head))),
    })
}
