//! A new task's first record, which freezes mode, model, prompt, tools, limits, environment and workspace.
//!
//! Every new root task goes through a [`Launcher`]: its parameters become a [`Launch`], and that in its
//! workspace becomes the record.

mod error;
mod folder;
mod instructions;
mod title;
mod workspace;
mod worktree;

pub use error::{LaunchError, NamedBy};
pub use folder::OwnFolder;
pub use title::{first_line, title};

use crate::{
    catalog::Catalog,
    config::{TemplateConfig, prompts},
    persona::{Persona, Personas},
    recall,
    settings::Settings,
};
use abide_engine::{control, control_tools, has_tools, prompt};
use abide_host::{environment::for_tasks, home::Home};
use abide_protocol::{
    conversation::Conversation,
    environment::Environment,
    limits::MAX_PROMPT,
    memory::{MemoryUse, RECALL},
    method::task::StartTaskParams,
    record::TaskStarted,
    task::{LimitsRequest, Mode},
    transcript::ToolSpec,
};
use abide_tools::Tools;
use instructions::Instructions;
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

/// Prepares new tasks. Cheap to clone.
#[derive(Clone)]
pub struct Launcher {
    settings: Settings,
    tools: Tools,
    home: Arc<Home>,
}

/// A prepared task, complete except for what its workspace tells.
pub struct Launch {
    head: TaskStarted,
    persona_prompt: Option<String>,
}

impl Launcher {
    #[must_use]
    pub const fn new(settings: Settings, tools: Tools, home: Arc<Home>) -> Self {
        Self { settings, tools, home }
    }

    /// Resolves everything about a task except its workspace. What the request leaves open is taken from its
    /// conversation, else from the configuration. Changes nothing.
    ///
    /// # Errors
    /// Its model, its persona, its template or one of its tools does not exist, or a file of a persona or a
    /// prompt cannot be used.
    pub async fn prepare(
        &self,
        request: &StartTaskParams,
        conversation: Option<&Conversation>,
    ) -> Result<Launch, LaunchError> {
        let catalog = self.settings.now().await;
        let config = catalog.config();
        let environment = environment(&request.environment).await?;
        let template = match &request.template {
            Some(name) => config.templates.get(name).ok_or_else(|| no_template(name, &catalog))?,
            None => &TemplateConfig::default(),
        };
        let of_conversation = |of: fn(&Conversation) -> Option<&String>| conversation.and_then(of).cloned();
        let named = request.persona.clone().or_else(|| template.persona.clone());
        let persona = match named.or_else(|| of_conversation(|c| c.persona.as_ref())) {
            Some(name) => Some(self.persona(&catalog, name).await?),
            None => None,
        };
        let of_persona = persona.as_ref();
        // An editor's word for a task.
        let is_task = request.message_mode.as_deref() == Some("Task");
        let mode = request
            .mode
            .or(is_task.then_some(Mode::Agent))
            .or(template.mode)
            .or_else(|| conversation.and_then(|c| c.mode))
            .or_else(|| of_persona.and_then(|p| p.mode))
            .or(config.task.mode)
            .unwrap_or_default();
        let less = of_conversation(|c| c.model.as_ref()).or_else(|| of_persona.and_then(|p| p.model.clone()));
        let model = choose_model(&catalog, request.model.as_deref(), less.as_deref()).await?;
        let tools = self.named_tools(&catalog, request, template, of_persona);
        let steps =
            LimitsRequest { max_steps: of_persona.and_then(|p| p.max_steps), ..LimitsRequest::default() };
        let limits = steps.over(&config.task.limits(mode));
        let limits = request.limits.over(&LimitsRequest::from(template.limits).over(&limits));
        let prompt = match request.template {
            Some(_) => template.fill(&request.message),
            None => request.message.clone(),
        };
        if prompt.len() > MAX_PROMPT {
            return Err(LaunchError::LongPrompt { size: prompt.len() });
        }
        let mut tools = self.tools_of(mode, tools, &environment).await?;
        let is_usual = request.memory.unwrap_or_default() == MemoryUse::Normal;
        if !is_usual || !recall::is_open(config, conversation) {
            tools.retain(|tool| tool.name != RECALL);
        } else if has_tools(mode) {
            tools.push(control::remember());
        }
        let prompts = self.prompts_of(&catalog, mode).await?;
        let (persona, persona_prompt) = persona.map(|persona| (persona.name, persona.prompt)).unzip();
        let head = TaskStarted {
            parent_id: None,
            mode,
            model,
            system_prompt: String::new(),
            tools,
            workspace: String::new(),
            environment,
            limits,
            approvals: request.approvals,
            restart: request.restart.or(config.task.restart).unwrap_or_default(),
            original_prompt: prompt,
            metadata: request.metadata.clone(),
            client_message: None,
            depth: 0,
            by: None,
            prompts,
            persona,
            instructions: Vec::new(),
            title: String::new(),
            forked_by: None,
            child_system_prompt: None,
            compact_at_tokens: config.task.compact_at_tokens(),
            external_id: None,
            files: Vec::new(),
            checkpoints: true,
            parks: config.task.park.unwrap_or(true),
        };
        Ok(Launch { head, persona_prompt })
    }

    /// The names of the task's tools, and who names them; `None`: the usual ones.
    fn named_tools<'a>(
        &self,
        catalog: &Catalog,
        request: &'a StartTaskParams,
        template: &'a TemplateConfig,
        persona: Option<&'a Persona>,
    ) -> Option<(&'a [String], NamedBy)> {
        let of_template = || NamedBy::Template(request.template.clone().unwrap_or_default());
        let of_persona = |persona: &Persona| {
            let place = Personas { config: catalog.config(), home: &self.home }.place_of_tools(&persona.name);
            NamedBy::Persona(persona.name.clone(), place)
        };
        let by_request = request.tools.as_deref().map(|tools| (tools, NamedBy::Request));
        let by_template = || template.tools.as_deref().map(|tools| (tools, of_template()));
        let by_persona = || persona.and_then(|p| Some((p.tools.as_deref()?, of_persona(p))));
        by_request.or_else(by_template).or_else(by_persona)
    }

    /// Reads the persona of this name.
    async fn persona(&self, catalog: &Catalog, name: String) -> Result<Persona, LaunchError> {
        let (catalog, home) = (catalog.clone(), self.home.clone());
        let read = move || Personas { config: catalog.config(), home: &home }.get(&name);
        let read = tokio::task::spawn_blocking(read);
        Ok(read.await.map_err(|_| LaunchError::ShuttingDown)??)
    }

    /// The files that the user names for a task in this workspace, relative to it.
    ///
    /// # Errors
    /// One of them is not a file in the workspace, or closed to tools.
    pub async fn named_files(&self, workspace: &str, paths: Vec<String>) -> Result<Vec<String>, LaunchError> {
        let (tools, workspace) = (self.tools.clone(), workspace.to_owned());
        let named = tokio::task::spawn_blocking(move || tools.named_files(&workspace, &paths));
        Ok(named.await.map_err(|_| LaunchError::ShuttingDown)??)
    }

    /// The templates of the mode's notes in force now.
    async fn prompts_of(
        &self,
        catalog: &Catalog,
        mode: Mode,
    ) -> Result<BTreeMap<String, String>, LaunchError> {
        let (catalog, folder) = (catalog.clone(), self.home.prompts_dir());
        let read = tokio::task::spawn_blocking(move || prompts::of_mode(catalog.config(), &folder, mode));
        Ok(read.await.map_err(|_| LaunchError::ShuttingDown)??)
    }

    /// Checks that a persona and a model can be used.
    ///
    /// # Errors
    /// One of them does not exist, or a file of the persona cannot be used.
    pub async fn check(&self, persona: Option<&str>, model: Option<&str>) -> Result<(), LaunchError> {
        let catalog = self.settings.now().await;
        if let Some(name) = persona {
            self.persona(&catalog, name.to_owned()).await?;
        }
        if model.is_some() {
            choose_model(&catalog, model, None).await?;
        }
        Ok(())
    }

    /// A chat has no tools. An agent has the named ones, or the usual ones, and always the control tools.
    async fn tools_of(
        &self,
        mode: Mode,
        named: Option<(&[String], NamedBy)>,
        environment: &BTreeMap<String, String>,
    ) -> Result<Vec<ToolSpec>, LaunchError> {
        if !has_tools(mode) {
            return Ok(Vec::new());
        }
        let (tools, path) = (self.tools.clone(), environment.get("PATH").cloned());
        let found = move || (tools.specs(path.as_deref()), abide_tools::missing(path.as_deref()));
        let found = tokio::task::spawn_blocking(found).await;
        let (mut specs, missing) = found.map_err(|_| LaunchError::ShuttingDown)?;
        if let Some((named, named_by)) = named {
            if let Some(unknown) = named.iter().find(|name| specs.iter().all(|spec| spec.name != **name)) {
                let name = unknown.clone();
                if let Some((_, program)) = missing.into_iter().find(|(tool, _)| *tool == name) {
                    return Err(LaunchError::NoProgram { tool: name, program });
                }
                return Err(LaunchError::NoTool {
                    name,
                    named_by,
                    known: specs.into_iter().map(|spec| spec.name).collect(),
                });
            }
            specs.retain(|spec| named.contains(&spec.name));
        } else {
            specs.retain(|spec| !spec.is_named_only());
        }
        specs.extend(control_tools(mode));
        Ok(specs)
    }
}

impl Launch {
    /// The persona's name.
    #[must_use]
    pub fn persona(&self) -> Option<&str> {
        self.head.persona.as_deref()
    }

    /// The environment of the task's tools.
    #[must_use]
    pub const fn environment(&self) -> &BTreeMap<String, String> {
        &self.head.environment
    }

    /// The task's first record, of no caller yet. Reads the notes for agents of the workspace's repository.
    ///
    /// # Errors
    /// The daemon is shutting down.
    pub async fn in_workspace(self, workspace: &str) -> Result<TaskStarted, LaunchError> {
        let Self { head, persona_prompt } = self;
        let (mode, persona_prompt) = (head.mode, persona_prompt.as_deref());
        let mut system_prompt = prompt::system(mode, persona_prompt, workspace, &head.tools);
        let mut child_system_prompt = prompt::system_of_sub_tasks(mode, persona_prompt, workspace);
        let mut instructions = Instructions::default();
        if has_tools(mode) {
            let folder = PathBuf::from(workspace);
            let read = tokio::task::spawn_blocking(move || Instructions::read(&folder));
            instructions = read.await.map_err(|_| LaunchError::ShuttingDown)?;
            system_prompt.push_str(&instructions.text);
            if let Some(of_children) = &mut child_system_prompt {
                of_children.push_str(&instructions.text);
            }
        }
        let (workspace, instructions) = (workspace.to_owned(), instructions.files);
        Ok(TaskStarted { system_prompt, child_system_prompt, workspace, instructions, ..head })
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

fn no_template(name: &str, catalog: &Catalog) -> LaunchError {
    let known = catalog.config().templates.keys().cloned().collect();
    LaunchError::NoTemplate { name: name.to_owned(), known }
}

/// The client's environment for tools, or the daemon's if the client sent none. Keys are never in it.
async fn environment(sent: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, LaunchError> {
    if !sent.is_empty() {
        return Ok(Environment::of(sent.clone()).variables);
    }
    let own = tokio::task::spawn_blocking(|| for_tasks().variables.clone()).await;
    own.map_err(|_| LaunchError::ShuttingDown)
}
