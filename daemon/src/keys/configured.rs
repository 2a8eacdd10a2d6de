use super::{KeyError, KeyOrigin, KeyStore, SetKey};
use crate::{config::Config, providers::BUILT_IN};
use abide_model::{Keys, Secret};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// The keys of one configuration's providers; a key in the environment takes precedence over a stored one.
pub struct ConfiguredKeys {
    /// By provider: the variable's name, and its value if it is set.
    environment: BTreeMap<String, (String, Option<Secret>)>,
    kept: Arc<KeyStore>,
}

impl fmt::Debug for ConfiguredKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfiguredKeys").field("names", &self.names()).finish_non_exhaustive()
    }
}

impl ConfiguredKeys {
    /// Combines the environment, read through `variable`, with the stored keys.
    #[must_use]
    pub fn new(kept: Arc<KeyStore>, config: &Config, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let built_in = BUILT_IN.iter().filter_map(|known| Some((known.name, known.key_variable?)));
        let mut names: BTreeMap<&str, &str> = built_in.collect();
        for (name, provider) in &config.providers {
            if let Some(variable) = &provider.api_key_env {
                names.insert(name, variable);
            }
        }
        let environment = names
            .into_iter()
            .map(|(name, v)| {
                let value = variable(v).filter(|value| !value.trim().is_empty());
                (name.to_owned(), (v.to_owned(), value.as_deref().map(Secret::new)))
            })
            .collect();
        Self { environment, kept }
    }

    /// The stored keys, shared by all configurations.
    #[must_use]
    pub const fn kept(&self) -> &Arc<KeyStore> {
        &self.kept
    }

    /// Where the provider's key comes from, if it has one.
    #[must_use]
    pub fn origin(&self, provider: &str) -> Option<KeyOrigin> {
        match self.environment.get(provider) {
            Some((variable, Some(_))) => Some(KeyOrigin::Environment(variable.clone())),
            _ => self.kept.origin(provider),
        }
    }

    /// The providers that have a key.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let set = self.environment.iter().filter(|(_, (_, value))| value.is_some()).map(|(name, _)| name);
        let mut names: Vec<String> = set.cloned().chain(self.kept.names()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Stores the provider's key, or removes it.
    ///
    /// # Errors
    /// The key or the name is invalid, or it cannot be stored.
    pub async fn set(&self, provider: &str, key: Option<&str>) -> Result<SetKey, KeyError> {
        let mut set = self.kept.set(provider, key).await?;
        if let Some((variable, Some(_))) = self.environment.get(provider) {
            let from_environment = format!("{variable} of the daemon's environment");
            set.stored_in = match key {
                Some(_) => format!("{}, but {from_environment} goes first", set.stored_in),
                None => format!("{from_environment}, and nowhere else"),
            };
        }
        Ok(set)
    }
}

impl Keys for ConfiguredKeys {
    fn key(&self, provider: &str) -> Option<Secret> {
        match self.environment.get(provider) {
            Some((_, Some(secret))) => Some(secret.clone()),
            _ => self.kept.key(provider),
        }
    }
}
