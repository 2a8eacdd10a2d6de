//! What a task can be started with: personas, templates, tools.

use crate::{task::Mode, transcript::ToolSpec};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListPersonasParams {
    /// Only the persona of that name.
    pub name: Option<String>,
}

/// By name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListPersonasReply {
    pub personas: Vec<PersonaInfo>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PersonaInfo {
    pub name: String,
    pub description: String,
    pub mode: Option<Mode>,
    /// `provider/model`.
    pub model: Option<String>,
    /// Absent: all.
    pub tools: Option<Vec<String>>,
    pub max_steps: Option<u32>,
    /// Its file, `built in`, or `config` if only the configuration has it.
    pub source: String,
    /// Why no task can be started with it.
    pub problem: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListTemplatesParams {
    /// Only the template of that name.
    pub name: Option<String>,
}

/// By name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListTemplatesReply {
    pub templates: Vec<TemplateInfo>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TemplateInfo {
    pub name: String,
    /// The message takes the place of `{input}`.
    pub prompt: String,
    pub persona: Option<String>,
    pub mode: Option<Mode>,
    pub tools: Option<Vec<String>>,
    pub max_steps: Option<u32>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListToolsParams {
    /// The control tools of this mode too, which every task in it has.
    pub mode: Option<Mode>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListToolsReply {
    pub tools: Vec<ToolSpec>,
}
