//! A new task's first record, which freezes mode, model, prompt, tools, limits, environment and workspace.
//!
//! Every new task (of a client, an editor, or a forking task) goes through a [`Launcher`]. What the request leaves open is taken from
//! its conversation, then from the configuration.

mod error;
mod title;
mod workspace;

pub use error::LaunchError;
pub use title::{first_line, title};

use crate::{
    catalog::Catalog,
    config::{Config, prompts},
    settings::Settings,
};
use abide_client::home::Home;
use abide_engine::{control, prompt};
use abide_protocol::{
    JsonText,
    conversation::Conversation,
    record::{By, ClientMessage, TaskStarted},
    task::{Approvals, Limits, LimitsRequest, Mode, RestartPolicy},
    transcript::ToolSpec,
};
use abide_tools::Tools;
use std::{collections::BTreeMap, path::PathBuf};

/// Prepares new tasks. Cheap to clone.
#[derive(Clone)]
pub struct Launcher {
    settings: Settings,
    tools: Tools,
    /// The folder for private workspaces, used by conversations without a workspace of their own.
    scratch_dir: PathBuf,
    prompts_dir: PathBuf,
}

/// A request for a new task. What is `None` is taken from its conversation, else from the configuration.
#[derive(Clone)]
pub struct LaunchRequest {
    pub prompt: String,
    pub mode: Option<Mode>,
    /// `provider/model`.
    pub model: Option<String>,
    pub persona: Option<String>,
    /// Names of the tools it may use; `None`: the persona's, else all.
    pub tools: Option<Vec<String>>,
    pub limits: LimitsRequest,
    pub approvals: Approvals,
    pub restart: Option<RestartPolicy>,
    pub metadata: Option<JsonText>,
    pub client_message: Option<ClientMessage>,
    /// The client's environment; if empty, the daemon's. Tools get the allow-listed part of it.
    pub environment: BTreeMap<String, String>,
    /// Who starts the task.
    pub by: By,
}

/// A prepared task, complete except for its workspace.
pub struct Launch {
    mode: Mode,
    model: String,
    persona_prompt: Option<String>,
    tools: Vec<ToolSpec>,
    limits: Limits,
    restart: RestartPolicy,
    /// The templates of the mode's phases, by phase.
    prompts: BTreeMap<String, String>,
    request: LaunchRequest,
}

impl Launcher {
    #[must_use]
    pub fn new(settings: Settings, tools: Tools, home: &Home) -> Self {
        Self { settings, tools, scratch_dir: home.scratch_dir(), prompts_dir: home.prompts_dir() }
    }

    /// Resolves everything about a task except its workspace. Changes nothing.
    ///
    /// # Errors
    /// Its model, its persona or one of its tools does not exist, or a prompt file cannot be used.
    pub async fn prepare(
        &self,
        request: LaunchRequest,
        conversation: Option<&Conversation>,
    ) -> Result<Launch, LaunchError> {
        let catalog = self.settings.now().await;
        let config = catalog.config();
        let of_conversation = || conversation.and_then(|c| c.mode);
        let mode = request.mode.or_else(of_conversation).or(config.task.mode).unwrap_or_default();
        let conversation_model = conversation.and_then(|c| c.model.as_deref());
        let model = choose_model(&catalog, request.model.as_deref(), conversation_model).await?;
        let persona = request.persona.as_deref().or_else(|| conversation.and_then(|c| c.persona.as_deref()));
        check_persona(config, persona)?;
        let persona = persona.and_then(|name| config.personas.get(name));
        let named = request.tools.as_deref().or_else(|| persona.and_then(|p| p.tools.as_deref()));
        Ok(Launch {
            mode,
            model,
            persona_prompt: persona.map(|p| p.prompt.clone()),
            tools: self.tools_of(mode, named)?,
            limits: request.limits.over(&config.task.limits(mode)),
            restart: request.restart.or(config.task.restart).unwrap_or_default(),
            prompts: self.prompts_of(&catalog, mode).await?,
            request,
        })
    }

    /// The templates in force now.
    async fn prompts_of(
        &self,
        catalog: &Catalog,
        mode: Mode,
    ) -> Result<BTreeMap<String, String>, LaunchError> {
        let (catalog, folder) = (catalog.clone(), self.prompts_dir.clone());
        let read = tokio::task::spawn_blocking(move || prompts::of_mode(catalog.config(), &folder, mode));
        Ok(read.await.map_err(|_| LaunchError::ShuttingDown)??)
    }

    /// Checks that a persona and a model exist.
    ///
    /// # Errors
    /// One of them does not exist.
    pub async fn check(&self, persona: Option<&str>, model: Option<&str>) -> Result<(), LaunchError> {
        let catalog = self.settings.now().await;
        check_persona(catalog.config(), persona)?;
        if model.is_some() {
            choose_model(&catalog, model, None).await?;
        }
        Ok(())
    }

    /// A chat has no tools. An agent has the named ones, or all, and always the control tools.
    fn tools_of(&self, mode: Mode, named: Option<&[String]>) -> Result<Vec<ToolSpec>, LaunchError> {
        if mode == Mode::Chat {
            return Ok(Vec::new());
        }
        let mut specs = self.tools.specs();
        if let Some(named) = named {
            if let Some(unknown) = named.iter().find(|name| specs.iter().all(|spec| spec.name != **name)) {
                let known = specs.into_iter().map(|spec| spec.name).collect();
                return Err(LaunchError::NoTool { name: unknown.clone(), known });
            }
            specs.retain(|spec| named.contains(&spec.name));
        }
        specs.extend(control::specs(mode));
        Ok(specs)
    }
}

impl Launch {
    /// The task's first record.
    #[must_use]
    pub fn into_head(self, workspace: &str) -> TaskStarted {
        let Self { mode, model, persona_prompt, tools, limits, restart, prompts, request } = self;
        TaskStarted {
            parent_id: None,
            mode,
            model,
            system_prompt: prompt::system(mode, persona_prompt.as_deref(), workspace, &tools),
            tools,
            workspace: workspace.to_owned(),
            environment: environment(request.environment),
            limits,
            approvals: request.approvals,
            restart,
            original_prompt: request.prompt,
            metadata: request.metadata,
            client_message: request.client_message,
            depth: 0,
            by: Some(request.by),
            prompts,
        }
    }
}

/// The task's model, else the conversation's, else the default one; checked to be usable.
///
/// # Errors
/// There is no such provider, it has no key, or it does not have the model.
pub async fn choose_model(
    catalog: &Catalog,
    task: Option<&str>,
    conversation: Option<&str>,
) -> Result<String, LaunchError> {
    let choice = catalog
        .choose(task, conversation)
        .await
        .map_err(|e| LaunchError::ModelUnavailable { reason: e.to_string() })?;
    catalog
        .models()
        .await
        .supports(&choice.model)
        .map_err(|e| LaunchError::ModelUnavailable { reason: e.message })?;
    Ok(choice.model)
}

fn check_persona(config: &Config, name: Option<&str>) -> Result<(), LaunchError> {
    match name.filter(|name| !config.personas.contains_key(*name)) {
        None => Ok(()),
        Some(name) => Err(LaunchError::NoPersona { name: name.to_owned() }),
    }
}

/// The allow-listed part of the client's environment (of the daemon's, if the client sent none). Keys are never in it.
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
