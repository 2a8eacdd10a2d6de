//! What a task can be started with.

use super::RequestError;
use crate::{
    persona::{Personas, Source},
    recall,
    service::Service,
};
use abide_engine::{control, control_tools, has_tools};
use abide_protocol::{
    Error, ErrorKind,
    memory::RECALL,
    method::catalog::{
        ListPersonasParams, ListPersonasReply, ListTemplatesParams, ListTemplatesReply, ListToolsParams,
        ListToolsReply, PersonaInfo, TemplateInfo,
    },
    transcript::ToolSpec,
};
use abide_tools::Tools;
use tokio::task::JoinError;

pub(super) async fn personas(
    service: &Service,
    params: ListPersonasParams,
) -> Result<ListPersonasReply, RequestError> {
    let (catalog, home, tools) = (service.settings.now().await, service.home.clone(), service.tools.clone());
    let listed = tokio::task::spawn_blocking(move || {
        let tools = here(&tools);
        let personas = Personas { config: catalog.config(), home: &home };
        let mut names = personas.names();
        names.retain(|name, _| params.name.as_ref().is_none_or(|wanted| wanted == name));
        names.into_iter().map(|(name, source)| persona(personas, name, source, &tools)).collect()
    });
    Ok(ListPersonasReply { personas: listed.await.map_err(down)? })
}

fn persona(personas: Personas<'_>, name: String, source: Source, tools: &[ToolSpec]) -> PersonaInfo {
    let source = match source {
        Source::BuiltIn => "built in".to_owned(),
        Source::File(path) => path.display().to_string(),
        Source::Config => "config".to_owned(),
    };
    match personas.get(&name) {
        Ok(found) => {
            let mut named = found.tools.iter().flatten();
            let unknown = named.find(|name| tools.iter().all(|tool| tool.name != **name));
            PersonaInfo {
                problem: unknown.map(|tool| {
                    let place = personas.place_of_tools(&name);
                    format!("there is no tool {tool:?} ({place}); `abide tools` lists them")
                }),
                name,
                description: found.description,
                mode: found.mode,
                model: found.model,
                tools: found.tools,
                max_steps: found.max_steps,
                source,
            }
        }
        Err(error) => PersonaInfo {
            name,
            description: String::new(),
            mode: None,
            model: None,
            tools: None,
            max_steps: None,
            source,
            problem: Some(error.to_string()),
        },
    }
}

pub(super) async fn templates(service: &Service, params: ListTemplatesParams) -> ListTemplatesReply {
    let catalog = service.settings.now().await;
    let all = catalog.config().templates.iter();
    let wanted = all.filter(|(name, _)| params.name.as_ref().is_none_or(|wanted| wanted == *name));
    let info = |(name, template): (&String, &crate::config::TemplateConfig)| TemplateInfo {
        name: name.clone(),
        prompt: template.prompt.clone(),
        persona: template.persona.clone(),
        mode: template.mode,
        tools: template.tools.clone(),
        max_steps: template.limits.max_steps,
    };
    ListTemplatesReply { templates: wanted.map(info).collect() }
}

pub(super) async fn tools(
    service: &Service,
    params: ListToolsParams,
) -> Result<ListToolsReply, RequestError> {
    let tools = service.tools.clone();
    let mut tools = tokio::task::spawn_blocking(move || here(&tools)).await.map_err(down)?;
    tools.extend(params.mode.into_iter().flat_map(control_tools));
    match recall::is_open(service.settings.now().await.config(), None) {
        true => tools.extend(params.mode.filter(|mode| has_tools(*mode)).map(|_| control::remember())),
        false => tools.retain(|tool| tool.name != RECALL),
    }
    Ok(ListToolsReply { tools })
}

/// The tools that can be used in the daemon's own environment; a task has that of its client.
fn here(tools: &Tools) -> Vec<ToolSpec> {
    tools.specs(std::env::var("PATH").ok().as_deref())
}

fn down(_: JoinError) -> Error {
    Error::new(ErrorKind::ShuttingDown, "the daemon is shutting down")
}
