//! What a task can be started with, as the daemon lists it.

use abide_client::protocol::{
    method::{
        catalog::{PersonaInfo, TemplateInfo},
        daemon::ListModelsReply,
        workspace::WorkspaceReply,
    },
    task::Mode,
    transcript::ToolSpec,
};
use std::collections::HashMap;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalog {
    /// `None` until the daemon has listed them.
    pub models: Option<ListModelsReply>,
    pub presets: Presets,
    /// What tasks can do in the folders that were shown, by their absolute paths.
    pub workspaces: HashMap<String, WorkspaceReply>,
}

/// What few tasks name: personas, templates, tools. Empty until the daemon has listed them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Presets {
    pub personas: Vec<PersonaInfo>,
    pub templates: Vec<TemplateInfo>,
    pub tools: Vec<ToolSpec>,
}

/// The built-in model, which plays a script.
pub const DEMO_MODEL: &str = "demo/demo";

impl Catalog {
    /// Whether the daemon has listed the models, and has none but the scripted one for a task that names
    /// none.
    #[must_use]
    pub fn has_only_demo(&self) -> bool {
        self.models.as_ref().is_some_and(|models| models.default.model == DEMO_MODEL)
    }

    /// The mode of a task for which nothing names one.
    #[must_use]
    pub fn default_mode(&self) -> Mode {
        self.models.as_ref().map(|models| models.mode).unwrap_or_default()
    }
}

impl Presets {
    #[must_use]
    pub fn persona(&self, name: &str) -> Option<&PersonaInfo> {
        self.personas.iter().find(|persona| persona.name == name)
    }

    #[must_use]
    pub fn template(&self, name: &str) -> Option<&TemplateInfo> {
        self.templates.iter().find(|template| template.name == name)
    }
}
