//! The request that `run`, `chat` and `demo` send to start a task, with the shell's folder and environment.

use crate::{
    args::AgentArgs,
    commands::worktree,
    connection::Daemon,
    error::CommandError,
    kind,
    output::{self, measure, screen, text},
    pages,
};
use abide_client::{
    protocol::{
        ConversationId,
        limits::MAX_PROMPT,
        method::{
            StartTask,
            task::{OwnWorktree, StartTaskParams, StartTaskReply},
        },
        task::{LimitsRequest, Mode},
    },
    request_id,
};
use abide_host::environment::for_tasks;
use std::path::Path;

/// Starts a task. Each request has its own id, so that sending it again after a cut connection starts nothing
/// twice.
pub(crate) async fn start(
    daemon: &mut Daemon,
    params: StartTaskParams,
) -> Result<StartTaskReply, CommandError> {
    daemon.call_again::<StartTask>(params).await
}

/// Says where the task of a new conversation works, if that is a worktree, and which task it works beside.
pub(crate) async fn say_where(
    daemon: &mut Daemon,
    args: &AgentArgs,
    started: StartTaskReply,
) -> Result<(), CommandError> {
    if args.worktree.is_some() {
        let named = Some(started.conversation_id.to_string());
        // It is not vital: the task has begun.
        if let Ok(Some(worktree)) = worktree::of(daemon, named).await.map(|mut found| found.pop()) {
            screen::note(&output::worktree::begun(&worktree))?;
        }
    }
    if let Some(beside) = started.beside {
        screen::note(&format!(
            "task {} works in this git work tree, too: what one changes, the other finds, and may undo or commit\n\
             hint: `--worktree` gives a task a work tree of its own",
            beside.short()
        ))?;
    }
    Ok(())
}

/// The parameters for a message in a conversation, or (`None`) in a new one in the current folder.
pub(crate) fn params(
    args: &AgentArgs,
    message: String,
    conversation: Option<ConversationId>,
    default_mode: Option<Mode>,
) -> Result<StartTaskParams, CommandError> {
    check(&message)?;
    // An existing conversation keeps its folder.
    let workspace = if conversation.is_none() { Some(current_folder()?) } else { None };
    Ok(StartTaskParams {
        conversation_id: conversation,
        message,
        mode: args.mode.or(default_mode),
        model: args.model.clone(),
        workspace,
        persona: args.persona.clone(),
        tools: args.tools.clone().map(|names| names.0),
        limits: LimitsRequest {
            max_steps: args.max_steps,
            max_tokens: args.max_tokens,
            max_cost_micros: args.max_cost,
            max_duration_secs: args.max_duration,
            question_timeout_secs: args.question_timeout,
            ..LimitsRequest::default()
        },
        approvals: args.approvals(),
        worktree: args
            .worktree
            .clone()
            .filter(|_| conversation.is_none())
            .map(|branch| OwnWorktree { branch }),
        memory: args.memory.filter(|_| conversation.is_none()),
        client_message_id: Some(request_id()),
        environment: for_tasks().variables.clone(),
        ..StartTaskParams::default()
    })
}

fn check(message: &str) -> Result<(), CommandError> {
    if message.len() <= MAX_PROMPT {
        return Ok(());
    }
    let limit = measure::bytes(MAX_PROMPT as u64);
    Err(CommandError::usage(format!("the prompt is longer than {limit}"))
        .hinted("write it to a file in this folder and name the file in the prompt"))
}

/// The conversation that `--conversation` or `--continue` names; `None` for a new one.
pub(crate) async fn conversation(
    daemon: &mut Daemon,
    args: &AgentArgs,
    json: bool,
) -> Result<Option<ConversationId>, CommandError> {
    if let Some(id) = &args.conversation {
        return Ok(Some(kind::conversation(daemon, id).await?));
    }
    if !args.continue_newest {
        return Ok(None);
    }
    let here = current_folder()?;
    let all = pages::conversations(daemon, false).await?;
    let newest = all.into_iter().find(|c| Path::new(&c.workspace) == Path::new(&here));
    let newest = newest.ok_or_else(|| {
        CommandError::failed(format!("no conversation belongs to {here} yet"))
            .hinted("without --continue a new one begins; `abide conversations` lists all")
    })?;
    if !json {
        screen::note(&format!("continues {}: {}", newest.id.short(), text::one_line(&newest.title)))?;
    }
    Ok(Some(newest.id))
}

pub(crate) fn current_folder() -> Result<String, CommandError> {
    let folder = std::env::current_dir().map_err(|e| {
        CommandError::failed(format!("this shell's folder cannot be used: {e}"))
            .hinted("it may have been removed: change to another one")
    })?;
    folder.into_os_string().into_string().map_err(|path| {
        CommandError::failed(format!("the path of the current folder is not text: {}", path.display()))
    })
}

/// The path from the root: the conversation may work in another folder than this shell.
pub(crate) fn absolute(path: &Path) -> Result<String, CommandError> {
    let absolute = std::path::absolute(path)?;
    absolute
        .into_os_string()
        .into_string()
        .map_err(|path| CommandError::usage(format!("the path of the file is not text: {}", path.display())))
}
