//! Providers and models.

mod known;

pub use known::{ANTHROPIC, KNOWN, KnownProvider, OPENAI, is_provider_name};

use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// A configured or found provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderInfo {
    pub name: String,
    /// `openai-chat`, `openai-responses`, `anthropic`, `scripted`.
    pub api: String,
    /// Empty for `scripted`.
    pub base_url: String,
    /// Where it comes from: `config`, `environment`, `found on loopback`, `built in`.
    pub source: String,
    pub key: KeyState,
    /// The models that the provider lists, as `provider/model`; empty if it was not asked or did not answer.
    pub models: Vec<String>,
    /// Why `models` is empty, in words.
    pub problem: Option<String>,
}

/// The APIs of providers with an address, the most usual first.
pub const APIS: [&str; 3] = ["openai-chat", "openai-responses", "anthropic"];

/// A provider's table `[providers.NAME]` in the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderEntry {
    pub name: String,
    /// `openai-chat`, `openai-responses`, `anthropic`.
    pub api: String,
    /// What the API's paths are appended to.
    pub base_url: String,
    /// The variable of the daemon's environment that holds the key. Absent: as it is in the configuration.
    pub api_key_env: Option<String>,
}

/// What the daemon knows of a provider's key. Never the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum KeyState {
    NotNeeded,
    Present,
    Missing,
}

/// The model that is used if nobody names one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DefaultModel {
    /// `provider/model`.
    pub model: String,
    /// Why this one, in words.
    pub why: String,
}
