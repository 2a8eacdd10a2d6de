//! `startTask`.

mod beneath;
mod digest;
mod recall;
mod task_id;
#[cfg(test)]
mod tests;

use crate::{
    clock,
    launch::{Launch, OwnFolder, title},
    service::{
        Caller, Service,
        handlers::{RequestError, daemon, existing, worktree},
    },
    session::CommandError,
};
use abide_engine::{Command, Start, driver::Applied, import};
use abide_protocol::{
    ConversationId, Error, ErrorKind, TaskId,
    conversation::Conversation,
    limits::{MAX_CLIENT_MESSAGE_ID, MAX_FILES, MAX_IMPORTED, MAX_JSON_DEPTH, MAX_PROMPT},
    measure::counted,
    method::{
        daemon::SandboxStatus,
        task::{ImportMessage, StartTaskParams, StartTaskReply},
    },
    record::{By, ClientMessage, ConversationCreated, Imported, TaskStarted},
    task::Approvals,
};
use abide_store::AppendError;
use digest::digest;
use std::pin::pin;
use task_id::Chosen;
use tokio_util::sync::CancellationToken;

/// Starts a task; a repeated request returns the task that it has already started.
pub(in crate::service::handlers) async fn start(
    service: &Service,
    caller: &Caller,
    params: StartTaskParams,
    gone: &CancellationToken,
) -> Result<StartTaskReply, RequestError> {
    check(service, &params)?;
    let imported = import(&params.messages, &mut clock::mint())?;
    let client_message =
        params.client_message_id.clone().map(|id| ClientMessage { id, digest: digest(&params) });
    let chosen = params.task_id.as_deref().map(Chosen::parse).transpose()?;
    let holder = match &chosen {
        Some(chosen) => chosen.holder(&service.store).await?,
        None => None,
    };
    if let Some(known) = already_started(service, client_message.as_ref()).await? {
        return Ok(known);
    }
    // Before anything is made for it.
    service.sessions.check_room()?;
    if let Some(task) = holder {
        return Err(CommandError::Store(AppendError::DuplicateTaskId(task)).into());
    }
    let asked = Asked {
        task: chosen.as_ref().and_then(Chosen::own).unwrap_or_else(|| TaskId(clock::mint().uuid())),
        external_id: chosen.and_then(Chosen::external),
        client_message: client_message.clone(),
        by: caller.by(),
    };
    let started = match &params.parent_id {
        Some(_) => beneath::start(service, params, asked, gone).await,
        None => start_root(service, params, asked, imported, gone).await,
    };
    match started {
        Ok(started) => Ok(started),
        // Another request may have come first: the same one, sent twice at once.
        Err(error) => already_started(service, client_message.as_ref()).await?.ok_or(error),
    }
}

/// What the request and its caller say of any task.
struct Asked {
    task: TaskId,
    external_id: Option<String>,
    client_message: Option<ClientMessage>,
    by: By,
}

async fn start_root(
    service: &Service,
    params: StartTaskParams,
    asked: Asked,
    imported: Vec<Imported>,
    gone: &CancellationToken,
) -> Result<StartTaskReply, RequestError> {
    let existing = match params.conversation_id {
        Some(id) => Some(existing_in_workspace(service, id, params.workspace.as_deref()).await?),
        None => None,
    };
    check_sandbox(service, params.approvals).await?;
    let launch = service.launcher.prepare(&params, existing.as_ref()).await?;
    let mut folder = service.launcher.own_folder(params.conversation_id);
    let prepared = Prepared { launch, imported, existing };
    let started = begin(service, params, asked, prepared, &mut folder, gone).await;
    folder.settle().await;
    started
}

/// A root task that is prepared, but for its workspace.
struct Prepared {
    launch: Launch,
    imported: Vec<Imported>,
    existing: Option<Conversation>,
}

/// Makes the task's workspace, and starts it there.
async fn begin(
    service: &Service,
    params: StartTaskParams,
    asked: Asked,
    prepared: Prepared,
    folder: &mut OwnFolder,
    gone: &CancellationToken,
) -> Result<StartTaskReply, RequestError> {
    let conversation_id = folder.conversation();
    let Asked { task, external_id, client_message, by } = asked;
    let Prepared { launch, imported, existing } = prepared;
    let has_worktree = params.worktree.is_some();
    let workspace = match (&existing, params.workspace.as_deref(), params.worktree) {
        (Some(conversation), ..) => conversation.workspace.clone(),
        (None, Some(named), Some(wanted)) => {
            let environment = launch.environment().clone();
            service.launcher.worktree(conversation_id, named, wanted, environment).await?
        }
        (None, named, _) => service.launcher.workspace(conversation_id, named).await?,
    };
    let conversation = existing.is_none().then(|| ConversationCreated {
        title: title(&params.message),
        workspace: workspace.clone(),
        mode: params.mode,
        model: params.model,
        persona: launch.persona().map(str::to_owned),
        memory: params.memory.unwrap_or_default(),
    });
    let memory = existing.as_ref().map_or(params.memory.unwrap_or_default(), |known| known.memory);
    let files = service.launcher.named_files(&workspace, params.files).await?;
    let by = Some(by);
    let head = launch.in_workspace(&workspace).await?;
    let head = TaskStarted { external_id, client_message, by, files, ..head };
    let recalled = recall::recall(service, conversation_id, existing.as_ref(), memory, &head).await;
    let setup = if has_worktree { service.sessions.setup(&head).await } else { None };
    let start = Command::Start(Box::new(Start { task, conversation, head, imported, recalled, setup }));
    folder.begin(start_while_wanted(service, conversation_id, task, start, gone)).await?;
    // It has begun: looking for others delays only this reply, and is only a hint.
    let beside = worktree::beside(service, conversation_id, &workspace).await.unwrap_or_default();
    Ok(StartTaskReply { task_id: task, conversation_id, beside })
}

/// Starts the task, unless its caller goes before the start is committed.
async fn start_while_wanted(
    service: &Service,
    conversation: ConversationId,
    task: TaskId,
    start: Command,
    gone: &CancellationToken,
) -> Result<Applied, CommandError> {
    let mut starting = pin!(service.sessions.command(conversation, start));
    tokio::select! {
        biased;
        () = gone.cancelled() => {
            let _withdrawal = service.store.withdraw_start(task);
            starting.await
        }
        started = &mut starting => started,
    }
}

fn check(service: &Service, params: &StartTaskParams) -> Result<(), Error> {
    let invalid = |words: String| Err(Error::new(ErrorKind::InvalidParams, words));
    if params.message.trim().is_empty() {
        return invalid("the message is empty: say what the task is".to_owned());
    }
    if params.message.len() > MAX_PROMPT {
        let words = format!(
            "the message has {} bytes, over the limit of {MAX_PROMPT}; put it into a file",
            params.message.len()
        );
        return Err(Error::new(ErrorKind::TooLarge, words));
    }
    check_depth(params)?;
    check_imported(params)?;
    if params.files.len() > MAX_FILES {
        let words = format!("{} files are over the limit of {MAX_FILES}", params.files.len());
        return Err(Error::new(ErrorKind::TooLarge, words));
    }
    if params.worktree.is_some() {
        if params.conversation_id.is_some() {
            return invalid(
                "a worktree is made for a new conversation; this one has its workspace".to_owned(),
            );
        }
        if params.workspace.is_none() {
            return invalid(
                "`workspace` is missing: a worktree is made of the git work tree around it".to_owned(),
            );
        }
    }
    if params.memory.is_some() && params.conversation_id.is_some() {
        return invalid(
            "`memory` is for a new conversation; `updateConversation` changes this one's".to_owned(),
        );
    }
    if params.client_message_id.as_ref().is_some_and(|id| id.is_empty() || id.len() > MAX_CLIENT_MESSAGE_ID) {
        return invalid(format!("a clientMessageId has 1 to {MAX_CLIENT_MESSAGE_ID} bytes"));
    }
    if service.hub.daemon_state().shutting_down {
        return Err(Error::new(ErrorKind::ShuttingDown, "the daemon is shutting down"));
    }
    Ok(())
}

/// Refuses a task that asks nobody where commands cannot be confined as the configuration requires.
async fn check_sandbox(service: &Service, approvals: Approvals) -> Result<(), Error> {
    if approvals.of_call(false) == Approvals::Ask {
        return Ok(());
    }
    let SandboxStatus { level, require, why_not } = daemon::sandbox(service).await;
    if level >= require {
        return Ok(());
    }
    let why: String = why_not.into_iter().map(|why| format!(" ({why})")).collect();
    let words = format!(
        "approvals cannot be given in advance: the sandbox of this machine is `{level}`{why}, and `[sandbox] require` in config.toml \
         is `{require}`; start the task without them, or set `require = \"{level}\"`"
    );
    Err(Error::new(ErrorKind::SandboxRequired, words))
}

/// Checks that JSON of the client's own can be read back: neither the store nor a reader takes any depth.
fn check_depth(params: &StartTaskParams) -> Result<(), Error> {
    let metadata = params.metadata.iter().map(|json| ("the metadata is", json));
    let messages = params.messages.iter().flat_map(|message| {
        let arguments = message.tool_calls.iter().map(|call| &call.arguments);
        arguments.chain(&message.result).map(|json| ("a message has JSON that is", json))
    });
    for (what, json) in metadata.chain(messages) {
        let depth = json.depth();
        if depth > MAX_JSON_DEPTH {
            let depth = counted(depth as u64, "level");
            let words = format!("{what} nested {depth} deep; {MAX_JSON_DEPTH} is the limit");
            return Err(Error::new(ErrorKind::InvalidParams, words));
        }
    }
    Ok(())
}

/// Checks the size of an earlier conversation.
fn check_imported(params: &StartTaskParams) -> Result<(), Error> {
    let (count, bytes) =
        (params.messages.len(), params.messages.iter().map(ImportMessage::bytes).sum::<usize>());
    let words = if count > MAX_IMPORTED {
        format!("{count} messages are over the limit of {MAX_IMPORTED}; leave out the oldest")
    } else if bytes > 0 && params.message.len() + bytes > MAX_PROMPT {
        format!(
            "the message and the imported messages have {} bytes together, over the limit of {MAX_PROMPT}; leave out the oldest",
            params.message.len() + bytes
        )
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::TooLarge, words))
}

/// The task that this client message id has started.
async fn already_started(
    service: &Service,
    client: Option<&ClientMessage>,
) -> Result<Option<StartTaskReply>, RequestError> {
    let Some(client) = client else { return Ok(None) };
    let Some(used) = service.store.client_message(&client.id).await? else {
        return Ok(None);
    };
    if used.digest != client.digest {
        let words =
            format!("the clientMessageId {:?} was used for another request; choose a new one", client.id);
        return Err(Error::new(ErrorKind::Conflict, words).about(used.task_id).into());
    }
    let (task_id, conversation_id) = (used.task_id, used.conversation_id);
    Ok(Some(StartTaskReply { task_id, conversation_id, beside: None }))
}

async fn existing_in_workspace(
    service: &Service,
    id: ConversationId,
    workspace: Option<&str>,
) -> Result<Conversation, RequestError> {
    let conversation = existing(&service.store, id).await?;
    match workspace {
        Some(other) if other != conversation.workspace => {
            let words = format!(
                "the conversation works in {}, not in {other}; leave `workspace` out, or start a new conversation",
                conversation.workspace
            );
            Err(Error::new(ErrorKind::InvalidParams, words).into())
        }
        _ => Ok(conversation),
    }
}
