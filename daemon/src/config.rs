//! `config.toml`, the user's configuration. A missing file means the defaults; an invalid one is an error
//! that names the line.

mod check;
mod edit;
mod error;
mod http;
mod policy;
mod price;
pub mod prompts;
mod reference;
mod sandbox;
mod template;
mod tools;
mod worktree;

pub use edit::changed;
pub use error::{ConfigError, Problem};
pub use http::HttpConfig;
pub use policy::PolicyConfig;
pub use price::Price;
pub use prompts::PromptsConfig;
pub use reference::{reference, reference_json};
pub use sandbox::SandboxConfig;
pub use template::{TemplateConfig, TemplateLimits};
pub use tools::ToolsConfig;
pub use worktree::WorktreeConfig;

use crate::{notify::Quiet, persona::PersonaConfig};
use abide_engine::default_steps;
use abide_model::{Api, Prices, UnknownApi};
use abide_protocol::{
    provider::ProviderEntry,
    task::{Limits, Mode, RestartPolicy},
};
use serde::{Deserialize, Deserializer, de::Error as _};
use std::{
    collections::BTreeMap,
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The whole file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub model: ModelConfig,
    /// By name; an entry with a built-in provider's name replaces that one.
    pub providers: BTreeMap<String, Provider>,
    pub task: TaskConfig,
    pub policy: PolicyConfig,
    pub sandbox: SandboxConfig,
    pub tools: ToolsConfig,
    pub notify: NotifyConfig,
    pub memory: MemoryConfig,
    pub daemon: DaemonConfig,
    /// By `provider/model`; an entry overrides the built-in price.
    pub prices: BTreeMap<String, Price>,
    /// By name; an entry overrides the file of that persona.
    pub personas: BTreeMap<String, PersonaConfig>,
    pub templates: BTreeMap<String, TemplateConfig>,
    pub prompts: PromptsConfig,
    pub worktree: WorktreeConfig,
    pub http: HttpConfig,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelConfig {
    /// `provider/model`, for tasks and conversations that name none.
    pub default: Option<String>,
}

/// The daemon itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DaemonConfig {
    pub update: UpdatePolicy,
}

/// What to do with a new program that replaces the daemon's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpdatePolicy {
    /// Go over to it as soon as nothing is cut off by that.
    #[default]
    Auto,
    /// Tell clients, and wait for a person.
    Ask,
    /// Say nothing unless asked for the status.
    Manual,
}

/// A model provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    #[serde(deserialize_with = "api")]
    pub api: Api,
    /// What the API's paths are appended to. Required for OpenAI's APIs, meaningless for `scripted`.
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// The most model calls at the same time.
    pub max_parallel: Option<u32>,
    /// The file of replies, for `scripted`.
    pub script: Option<PathBuf>,
    /// Seconds without a byte until a reply counts as stalled.
    pub stall_timeout_secs: Option<u64>,
}

fn api<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Api, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

/// Default limits of tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaskConfig {
    /// Of a task whose request and conversation name none.
    pub mode: Option<Mode>,
    /// 0 means no limit, here and below. Not for `roa`, whose steps are three model calls each.
    pub max_steps: Option<u32>,
    pub max_duration_secs: Option<u64>,
    /// The delay before each step but the first.
    pub step_delay_ms: Option<u64>,
    pub max_tokens: Option<u64>,
    /// Micro-dollars.
    pub max_cost_micros: Option<u64>,
    pub question_timeout_secs: Option<u64>,
    pub max_depth: Option<u32>,
    pub max_children: Option<u32>,
    pub max_tasks: Option<u32>,
    /// What to do with interrupted tasks at the next start.
    pub restart: Option<RestartPolicy>,
    /// Whether a task is parked while a limit of its provider lasts.
    pub park: Option<bool>,
    /// From this many tokens of context on, old outputs and steps are left out.
    pub compact_at_tokens: Option<u64>,
    pub roa: RoaConfig,
}

/// What differs for tasks of mode `roa`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoaConfig {
    pub max_steps: Option<u32>,
}

/// [`TaskConfig::compact_at_tokens`], if the configuration does not say.
const COMPACT_AT_TOKENS: u64 = 60_000;

impl TaskConfig {
    /// From this many tokens of context on, a task leaves out old outputs and steps.
    #[must_use]
    pub fn compact_at_tokens(&self) -> u64 {
        self.compact_at_tokens.unwrap_or(COMPACT_AT_TOKENS)
    }

    /// The limits of a task that requests none.
    #[must_use]
    pub fn limits(&self, mode: Mode) -> Limits {
        let max_steps = if mode == Mode::Roa { self.roa.max_steps } else { self.max_steps };
        let usual = Limits { max_steps: default_steps(mode), ..Limits::default() };
        Limits {
            max_steps: max_steps.unwrap_or(usual.max_steps),
            max_duration_secs: self.max_duration_secs.unwrap_or(usual.max_duration_secs),
            step_delay_ms: self.step_delay_ms.unwrap_or(usual.step_delay_ms),
            max_tokens: self.max_tokens.unwrap_or(usual.max_tokens),
            max_cost_micros: self.max_cost_micros.unwrap_or(usual.max_cost_micros),
            question_timeout_secs: self.question_timeout_secs.unwrap_or(usual.question_timeout_secs),
            max_depth: self.max_depth.unwrap_or(usual.max_depth),
            max_children: self.max_children.unwrap_or(usual.max_children),
            max_tasks: self.max_tasks.unwrap_or(usual.max_tasks),
        }
    }
}

/// What tasks are given of earlier conversations.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MemoryConfig {
    /// Tasks recall.
    pub enabled: bool,
    pub embedder: EmbedderConfig,
}

/// What says what texts mean.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum EmbedderConfig {
    /// The built-in model, if it is installed; else a model of a server on this machine.
    #[default]
    Auto,
    /// Nothing: only words count.
    Off,
    /// The built-in model; a recall says so if it is missing.
    Builtin,
    /// `provider/model`.
    Model(String),
}

impl From<String> for EmbedderConfig {
    fn from(word: String) -> Self {
        match word.as_str() {
            "auto" => Self::Auto,
            "off" => Self::Off,
            "builtin" => Self::Builtin,
            _ => Self::Model(word),
        }
    }
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self { enabled: true, embedder: EmbedderConfig::default() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NotifyConfig {
    /// Desktop notifications.
    pub enabled: bool,
    /// When none is shown.
    pub quiet: Option<Quiet>,
}

impl Default for NotifyConfig {
    fn default() -> Self {
        Self { enabled: true, quiet: None }
    }
}

impl Config {
    /// The built-in prices, overridden by the file's.
    #[must_use]
    pub fn price_table(&self) -> Prices {
        let mut prices = Prices::built_in();
        for (model, price) in &self.prices {
            prices.set(model.clone(), (*price).into());
        }
        prices
    }

    /// With this entry of `[providers]`, as [`changed`] writes it.
    ///
    /// # Errors
    /// The entry is invalid.
    pub fn with_provider(&self, entry: &ProviderEntry) -> Result<Self, Problem> {
        let api = entry.api.parse().map_err(|e: UnknownApi| {
            Problem::new(format!("providers.{}.api", entry.name), e.to_string(), "correct it")
        })?;
        let mut config = self.clone();
        let provider = config.providers.entry(entry.name.clone()).or_insert(Provider {
            api,
            base_url: None,
            api_key_env: None,
            max_parallel: None,
            script: None,
            stall_timeout_secs: None,
        });
        provider.api = api;
        provider.base_url = Some(entry.base_url.clone());
        if entry.api_key_env.is_some() {
            provider.api_key_env.clone_from(&entry.api_key_env);
        }
        check::check(&config)?;
        Ok(config)
    }

    /// Parses the file's text.
    ///
    /// # Errors
    /// The first invalid entry.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let config: Self = toml::from_str(text).map_err(|e| Problem::of_toml(text, &e))?;
        check::check(&config).map_err(|problem| problem.located(text))?;
        config.policy.check(text)?;
        Ok(config)
    }

    /// Reads and parses the file; a missing one gives the defaults.
    ///
    /// # Errors
    /// It cannot be read, or [`Config::parse`] finds a problem.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        Self::of_file(path, Self::read(path)?.as_deref())
    }

    /// The file's text; `None` if there is no file.
    ///
    /// # Errors
    /// It cannot be read, or is too large.
    pub fn read(path: &Path) -> Result<Option<String>, ConfigError> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ConfigError::Read { path: path.to_owned(), source }),
        };
        let mut text = String::new();
        file.take(MAX_BYTES + 1)
            .read_to_string(&mut text)
            .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        if text.len() as u64 > MAX_BYTES {
            return Err(ConfigError::TooLarge { path: path.to_owned() });
        }
        Ok(Some(text))
    }

    /// Parses what [`Config::read`] returned.
    ///
    /// # Errors
    /// [`Config::parse`] finds a problem.
    pub fn of_file(path: &Path, text: Option<&str>) -> Result<Self, ConfigError> {
        Self::parse(text.unwrap_or_default())
            .map_err(|problem| ConfigError::Wrong { path: path.to_owned(), problem })
    }
}

#[cfg(test)]
mod tests;
