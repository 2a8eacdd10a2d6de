mod digest;

use super::{RequestError, existing};
use crate::{catalog::Catalog, clock, config::Config, ipc::Service, session::CommandError};
use abide_engine::{Input, Refusal, Start, control, prompt};
use abide_protocol::{
    ConversationId, Error, ErrorKind, TaskId,
    conversation::Conversation,
    limits::{MAX_CLIENT_MESSAGE_ID, MAX_PROMPT},
    method::task::{StartTaskParams, StartTaskReply},
    record::{ClientMessage, ConversationCreated, TaskStarted},
    task::Mode,
    transcript::ToolSpec,
};
use abide_store::AppendError;
use digest::{digest, is_same};
use std::{collections::BTreeMap, path::Path};

/// The longest title, in characters.
const MAX_TITLE: usize = 60;

/// Decides everything about a task that its first record freezes, and starts it.
pub(super) async fn start(
    service: &Service,
    params: StartTaskParams,
) -> Result<StartTaskReply, RequestError> {
    check(service, &params)?;
    let client_message =
        params.client_message_id.clone().map(|id| ClientMessage { id, digest: digest(&params) });
    if let Some(known) = already_started(service, client_message.as_ref()).await? {
        return Ok(known);
    }
    let existing = match params.conversation_id {
        Some(id) => Some(in_its_workspace(service, id, params.workspace.as_deref()).await?),
        None => None,
    };
    let conversation_id = existing.as_ref().map_or_else(new_conversation_id, |c| c.id);
    let task_id = TaskId(clock::mint().uuid());
    let mode = params.mode.or_else(|| existing.as_ref().and_then(|c| c.mode)).unwrap_or(Mode::Agent);
    let conversation_model = existing.as_ref().and_then(|c| c.model.as_deref());
    let catalog = service.settings.now().await;
    let config = catalog.config();
    let model = choose_model(&catalog, params.model.as_deref(), conversation_model).await?;
    let persona = params.persona.as_deref().or_else(|| existing.as_ref().and_then(|c| c.persona.as_deref()));
    check_persona(config, persona)?;
    let persona = persona.and_then(|name| config.personas.get(name));
    let named = params.tools.as_deref().or_else(|| persona.and_then(|p| p.tools.as_deref()));
    let tools = tools(service, mode, named)?;
    // Last, since it may make a folder.
    let workspace = match &existing {
        Some(conversation) => conversation.workspace.clone(),
        None => workspace(service, conversation_id, params.workspace.as_deref()).await?,
    };
    let head = TaskStarted {
        parent_id: None,
        mode,
        model,
        system_prompt: prompt::system(mode, persona.map(|p| p.prompt.as_str()), &workspace),
        tools,
        workspace: workspace.clone(),
        environment: environment(params.environment),
        limits: params.limits.over(&config.task.limits(mode)),
        approvals: params.approvals,
        restart: params.restart.or(config.task.restart).unwrap_or_default(),
        original_prompt: params.message.clone(),
        metadata: params.metadata,
        client_message: client_message.clone(),
    };
    let conversation = existing.is_none().then(|| ConversationCreated {
        title: title(&params.message),
        workspace,
        mode: params.mode,
        model: params.model,
        persona: params.persona,
    });
    let start = Box::new(Start { task: task_id, conversation, head });
    match service.sessions.command(conversation_id, Input::Start(start)).await {
        Ok(_) => Ok(StartTaskReply { task_id, conversation_id }),
        // The same request, sent twice at once: the other one was first.
        Err(CommandError::Store(AppendError::DuplicateClientMessage { .. })) => {
            remove_scratch(service, conversation_id).await;
            let known = already_started(service, client_message.as_ref()).await?;
            let vanished = "the first request of this clientMessageId has vanished";
            Ok(known.ok_or_else(|| Error::new(ErrorKind::Internal, vanished))?)
        }
        // So it may be in a conversation that is there already: then its task is the one that runs.
        Err(e @ CommandError::Refused(Refusal::TaskRunning(_))) => {
            already_started(service, client_message.as_ref()).await?.ok_or_else(|| e.into())
        }
        Err(e) => Err(e.into()),
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
    if params.client_message_id.as_ref().is_some_and(|id| id.is_empty() || id.len() > MAX_CLIENT_MESSAGE_ID) {
        return invalid(format!("a clientMessageId has 1 to {MAX_CLIENT_MESSAGE_ID} bytes"));
    }
    if service.hub.daemon_state().shutting_down {
        return Err(Error::new(ErrorKind::ShuttingDown, "the daemon is shutting down"));
    }
    Ok(())
}

/// The task that this client message id has started already.
async fn already_started(
    service: &Service,
    client: Option<&ClientMessage>,
) -> Result<Option<StartTaskReply>, RequestError> {
    let Some(client) = client else { return Ok(None) };
    let Some(used) = service.store.client_message(&client.id).await? else {
        return Ok(None);
    };
    if !is_same(&used.digest, &client.digest) {
        let words =
            format!("the clientMessageId {:?} was used for another request; choose a new one", client.id);
        return Err(Error::new(ErrorKind::Conflict, words).about(used.task_id).into());
    }
    Ok(Some(StartTaskReply { task_id: used.task_id, conversation_id: used.conversation_id }))
}

async fn in_its_workspace(
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

pub(super) fn new_conversation_id() -> ConversationId {
    ConversationId(clock::mint().uuid())
}

/// The folder that is named, or a private one of the conversation's own.
pub(super) async fn workspace(
    service: &Service,
    id: ConversationId,
    named: Option<&str>,
) -> Result<String, RequestError> {
    let scratch = service.home.scratch_dir().join(id.to_string());
    let named = named.map(str::to_owned);
    let made = tokio::task::spawn_blocking(move || match named {
        Some(path) => existing_folder(&path),
        None => match abide_client::home::create_private_dir(&scratch) {
            Ok(()) => existing_folder(&scratch.to_string_lossy()),
            Err(e) => Err(Error::new(ErrorKind::Storage, e.to_string())),
        },
    });
    Ok(made.await.unwrap_or_else(|e| Err(Error::new(ErrorKind::Internal, e.to_string())))?)
}

/// The conversation did not come about: its folder, if it was given one of its own, is still empty.
async fn remove_scratch(service: &Service, id: ConversationId) {
    let scratch = service.home.scratch_dir().join(id.to_string());
    // There may be none.
    let _ = tokio::task::spawn_blocking(move || std::fs::remove_dir(scratch)).await;
}

fn existing_folder(path: &str) -> Result<String, Error> {
    let invalid = |words: String| Error::new(ErrorKind::InvalidParams, words);
    if !Path::new(path).is_absolute() {
        return Err(invalid(format!("the workspace {path:?} is not an absolute path")));
    }
    let real = std::fs::canonicalize(path)
        .map_err(|e| invalid(format!("the workspace {path:?} cannot be used: {e}")))?;
    if !real.is_dir() {
        return Err(invalid(format!("the workspace {path:?} is not a folder")));
    }
    real.into_os_string()
        .into_string()
        .map_err(|_| invalid(format!("the workspace {path:?} is not valid UTF-8")))
}

/// The first line that says anything.
pub(super) fn title(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("New conversation");
    let clean: String = line.chars().filter(|c| !c.is_control()).collect();
    match clean.char_indices().nth(MAX_TITLE) {
        Some(_) => clean.chars().take(MAX_TITLE - 1).chain(['…']).collect(),
        None => clean,
    }
}

/// The persona and the model of a conversation are there.
pub(super) async fn check_choices(
    service: &Service,
    persona: Option<&str>,
    model: Option<&str>,
) -> Result<(), RequestError> {
    let catalog = service.settings.now().await;
    check_persona(catalog.config(), persona)?;
    if model.is_some() {
        choose_model(&catalog, model, None).await?;
    }
    Ok(())
}

pub(super) async fn choose_model(
    catalog: &Catalog,
    task: Option<&str>,
    conversation: Option<&str>,
) -> Result<String, RequestError> {
    let unavailable = |words: String| Error::new(ErrorKind::ModelUnavailable, words);
    let choice = catalog.choose(task, conversation).await.map_err(|e| unavailable(e.to_string()))?;
    catalog.models().await.supports(&choice.model).map_err(|e| unavailable(e.message))?;
    Ok(choice.model)
}

fn check_persona(config: &Config, name: Option<&str>) -> Result<(), Error> {
    match name.filter(|name| !config.personas.contains_key(*name)) {
        None => Ok(()),
        Some(name) => {
            let words =
                format!("there is no persona {name:?}; config.toml defines them under [personas.NAME]");
            Err(Error::new(ErrorKind::InvalidParams, words))
        }
    }
}

/// Chat has none. An agent has all, or those that are named; its control tools always.
fn tools(service: &Service, mode: Mode, named: Option<&[String]>) -> Result<Vec<ToolSpec>, Error> {
    if mode == Mode::Chat {
        return Ok(Vec::new());
    }
    let mut specs = service.tools.specs();
    if let Some(named) = named {
        if let Some(unknown) = named.iter().find(|name| specs.iter().all(|spec| spec.name != **name)) {
            let known: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
            let words = format!("there is no tool {unknown:?}; there are {}", known.join(", "));
            return Err(Error::new(ErrorKind::InvalidParams, words));
        }
        specs.retain(|spec| named.contains(&spec.name));
    }
    specs.extend(control::specs());
    Ok(specs)
}

/// The client's environment, or the daemon's if it sent none; never a key.
fn environment(sent: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let all = if sent.is_empty() {
        std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect()
    } else {
        sent
    };
    abide_tools::environment::allowed(all)
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn a_title_is_the_first_line_that_says_anything() {
        assert_eq!(title("\n  \n  Fix the build \nand more"), "Fix the build");
        assert_eq!(title("   "), "New conversation");
        assert_eq!(title("a\u{1b}[31mb"), "a[31mb");
        let long = title(&"é".repeat(100));
        assert_eq!(long.chars().count(), 60);
        assert!(long.ends_with('…'));
        assert_eq!(title(&"x".repeat(60)), "x".repeat(60));
    }
}
