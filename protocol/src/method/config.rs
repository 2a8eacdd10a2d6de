use super::daemon::ConfigStatus;
use crate::provider::{DefaultModel, ProviderEntry};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetConfigParams {
    /// No meaning; a struct without fields is not allowed on the wire.
    pub verbose: bool,
}

/// Sets these fields in the configuration's file, whose comments and order stay. What is absent stays as it
/// is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UpdateConfigParams {
    /// `[model] default`.
    pub model: Option<ModelChoice>,
    /// `[notify] enabled`.
    pub notifications: Option<bool>,
    /// `[memory] enabled`.
    pub memory: Option<bool>,
    /// An entry of `[providers]`. One to remove has to be there.
    pub provider: Option<ProviderChange>,
    /// `[task] max_tokens`; 0: no limit.
    pub max_tokens: Option<u64>,
    /// `[task] max_cost_micros`; 0: no limit.
    pub max_cost_micros: Option<u64>,
}

/// A change of `[providers]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum ProviderChange {
    /// Adds the entry; if there is one of that name, the keys of it that are given here change.
    Set(ProviderEntry),
    /// Removes the entry of that name.
    Remove(String),
}

/// The part of the configuration in force that clients can change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigReply {
    pub model: ModelChoice,
    /// The model that `model` selects now.
    pub default: DefaultModel,
    /// Desktop notifications are shown.
    pub notifications: bool,
    /// Tasks recall earlier conversations.
    pub memory: bool,
    pub file: ConfigStatus,
}

/// The model of tasks and conversations that name none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum ModelChoice {
    /// The first that is available: a vendor whose key is set, a model server on this machine, the scripted
    /// demo.
    Automatic,
    /// This one, as `provider/model`.
    Named(String),
}
