//! The providers and the default model. Pure: the environment comes in as [`Facts`].

use crate::{catalog::is_embedder, config::Config, keys::KeyOrigin};
use abide_model::{Api, ProviderConfig, ServerLocation};
use abide_protocol::provider::{ANTHROPIC, DefaultModel, KnownProvider, OPENAI};
use std::{fmt::Write as _, time::Duration};

/// The providers that are there without a configuration, best first. They are the vendors of the APIs.
pub(crate) const BUILT_IN: [KnownProvider; 2] = [ANTHROPIC, OPENAI];

/// What providers and default model depend on.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    pub config: &'a Config,
    /// `OPENAI_BASE_URL` of the daemon's environment.
    pub openai_base_url: Option<&'a str>,
    /// The origin of a provider's key, if it has one.
    pub key: &'a dyn Fn(&str) -> Option<KeyOrigin>,
    /// Model servers found on loopback, each with its models, as `provider/model`.
    pub local: &'a [(ProviderConfig, Vec<String>)],
}

/// The providers and the default model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Providers {
    /// In listing order: configured, built in, found on loopback.
    pub configs: Vec<ProviderConfig>,
    pub default: DefaultModel,
}

/// Why a model cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchModel {
    #[error("{0:?} is not PROVIDER/MODEL; `abide models` lists what there is")]
    NotAName(String),
    #[error("there is no provider {provider:?} (there is {}); configure it, or choose a model that `abide models` lists", known.join(", "))]
    NoProvider { provider: String, known: Vec<String> },
}

impl Providers {
    #[must_use]
    pub fn of(facts: Facts<'_>) -> Self {
        let mut configs: Vec<_> =
            facts.config.providers.iter().map(|(name, entry)| configured(name, entry)).collect();
        let mut built_in = [
            ProviderConfig::new(
                ANTHROPIC.name,
                Api::Anthropic,
                ANTHROPIC.base_url,
                source(facts, ANTHROPIC.name),
            ),
            ProviderConfig::new(
                OPENAI.name,
                Api::OpenaiChat,
                facts.openai_base_url.unwrap_or(OPENAI.base_url),
                if facts.openai_base_url.is_some() { "environment" } else { source(facts, OPENAI.name) },
            ),
        ];
        for vendor in &mut built_in {
            vendor.wants_key = is_vendor(&vendor.base_url);
        }
        let found = facts.local.iter().map(|(config, _)| config.clone());
        for config in built_in.into_iter().chain(found).chain([ProviderConfig::demo()]) {
            if configs.iter().all(|there| there.name != config.name) {
                configs.push(config);
            }
        }
        let default = default_model(facts, &configs);
        Self { configs, default }
    }

    /// The model of a task: its own, else its conversation's, else the default.
    ///
    /// # Errors
    /// There is no such provider. (Only the provider knows whether it has the model.)
    pub fn choose(
        &self,
        task: Option<&str>,
        conversation: Option<&str>,
    ) -> Result<DefaultModel, NoSuchModel> {
        let choice = match (task, conversation) {
            (Some(model), _) => DefaultModel { model: model.to_owned(), why: "named by the task".to_owned() },
            (None, Some(model)) => {
                DefaultModel { model: model.to_owned(), why: "the conversation's".to_owned() }
            }
            (None, None) => self.default.clone(),
        };
        match choice.model.split_once('/') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                if self.configs.iter().any(|config| config.name == provider) {
                    return Ok(choice);
                }
                let known = self.configs.iter().map(|config| config.name.clone()).collect();
                Err(NoSuchModel::NoProvider { provider: provider.to_owned(), known })
            }
            _ => Err(NoSuchModel::NotAName(choice.model)),
        }
    }
}

fn source(facts: Facts<'_>, name: &str) -> &'static str {
    if matches!((facts.key)(name), Some(KeyOrigin::Environment(_))) { "environment" } else { "built in" }
}

/// The provider of an entry of `[providers]`.
pub(crate) fn configured(name: &str, entry: &crate::config::Provider) -> ProviderConfig {
    let mut config = match entry.api.location() {
        ServerLocation::File => ProviderConfig {
            api: entry.api,
            ..ProviderConfig::scripted(name, entry.script.clone(), "config")
        },
        ServerLocation::Address { vendor_url, .. } => {
            ProviderConfig::new(name, entry.api, entry.base_url.as_deref().unwrap_or(vendor_url), "config")
        }
    };
    config.wants_key = entry.api_key_env.is_some() || is_vendor(&config.base_url);
    if KnownProvider::named(name).is_some_and(KnownProvider::is_local) {
        config = config.of_this_machine();
    }
    if let Some(calls) = entry.max_parallel {
        config.max_parallel = usize::try_from(calls).unwrap_or(usize::MAX);
    }
    if let Some(seconds) = entry.stall_timeout_secs {
        config.stall_timeout = Duration::from_secs(seconds);
        config.prompt_timeout = config.stall_timeout;
    }
    config
}

/// Whether this is a vendor's own address, which needs a key. (A gateway at another address may not.)
fn is_vendor(base_url: &str) -> bool {
    KnownProvider::at(base_url).is_some_and(|known| !known.is_local())
}

fn default_model(facts: Facts<'_>, configs: &[ProviderConfig]) -> DefaultModel {
    let chosen = |model: String, why: String| DefaultModel { model, why };
    if let Some(model) = &facts.config.model.default {
        let mut why = "default of [model] in config.toml".to_owned();
        let provider = model.split_once('/').map_or("", |(provider, _)| provider);
        if configs.iter().all(|config| config.name != provider) {
            // Reported, not replaced: another model could cost more or get data that it should not.
            let _ = write!(why, ", but there is no provider {provider:?}");
        }
        return chosen(model.clone(), why);
    }
    for vendor in BUILT_IN {
        if let (Some(origin), Some(model)) = ((facts.key)(vendor.name), vendor.model) {
            return chosen(format!("{}/{model}", vendor.name), origin.to_string());
        }
    }
    let replies = |model: &&String| !is_embedder(model);
    let local =
        facts.local.iter().find_map(|(config, models)| Some((&config.name, models.iter().find(replies)?)));
    if let Some((provider, model)) = local {
        return chosen(model.clone(), format!("{provider} was found on this machine"));
    }
    let demo = |why| chosen("demo/demo".to_owned(), why);
    // A provider that was set up may have many models. Which of them is meant, and may cost something, is for
    // a person to say.
    match facts.config.providers.keys().find(|name| !lacks_key(facts, configs, name)) {
        Some(name) => demo(format!(
            "it is scripted, and no model; you have set up {name}: `abide config set model.default {name}/MODEL` makes a model of it the default"
        )),
        None => demo("nothing else is there: it is scripted, and no model".to_owned()),
    }
}

fn lacks_key(facts: Facts<'_>, configs: &[ProviderConfig], name: &str) -> bool {
    configs.iter().any(|config| config.name == name && config.wants_key) && (facts.key)(name).is_none()
}

#[cfg(test)]
mod tests;
