//! Tests a provider before it is set up.

use super::Catalog;
use crate::{keys::ConfiguredKeys, providers::configured};
use abide_model::{Keys, ModelError, Models, ProviderConfig, Secret};
use abide_protocol::{
    method::daemon::{CheckFailure, CheckProviderParams, CheckProviderReply},
    provider::ProviderEntry,
    record::ModelErrorKind,
};
use std::sync::Arc;

/// Paths of APIs, which people copy with the address.
const PATHS: [&str; 5] = ["/chat/completions", "/completions", "/responses", "/messages", "/models"];

impl Catalog {
    /// Asks a provider for its models, or one of them for a few words, as if the configuration had this
    /// entry. Nothing is stored.
    pub async fn check_provider(&self, params: CheckProviderParams) -> CheckProviderReply {
        let CheckProviderParams { provider, key, model } = params;
        let mut reply = CheckProviderReply { models: Vec::new(), took_ms: 0, failure: None, base_url: None };
        let (config, keys) = match self.as_if(&provider, key.as_deref()).await {
            Ok(made) => made,
            Err(failure) => return CheckProviderReply { failure: Some(failure), ..reply },
        };
        let asked = self.only(config.clone(), &keys);
        let answered = match &model {
            None => asked.models_of(&provider.name).await,
            Some(model) => asked.check(model).await.map(|()| Vec::new()),
        };
        match answered {
            Ok(models) => reply.models = models,
            Err(error) => {
                reply.base_url = self.address_near(&config, &keys, &error).await;
                reply.failure = Some(CheckFailure { kind: error.kind, message: error.message });
            }
        }
        reply
    }

    /// The provider and the keys that the entry would make.
    async fn as_if(
        &self,
        entry: &ProviderEntry,
        key: Option<&str>,
    ) -> Result<(ProviderConfig, Arc<dyn Keys>), CheckFailure> {
        let failure = |kind, message: String| CheckFailure { kind, message };
        let config = self
            .inner
            .config
            .with_provider(entry)
            .map_err(|problem| failure(ModelErrorKind::BadRequest, problem.to_string()))?;
        if let Some(key) = key {
            return Ok((provider_of(&config, entry), Arc::new(OneKey(Secret::new(key)))));
        }
        if let Some(variable) = &entry.api_key_env
            && (self.inner.variable)(variable).is_none_or(|value| value.trim().is_empty())
        {
            let words = format!(
                "{}: the daemon's environment has no {variable}; `abide daemon restart` in a shell that has it gives it to the daemon",
                entry.name
            );
            return Err(failure(ModelErrorKind::Auth, words));
        }
        let kept = self.inner.keys.kept().clone();
        kept.fetch().await;
        let keys = ConfiguredKeys::new(kept, &config, &*self.inner.variable);
        Ok((provider_of(&config, entry), Arc::new(keys)))
    }

    /// The usual slips: `/v1` is missing, or the path of a request was copied too. An address counts if it
    /// lists models.
    async fn address_near(
        &self,
        config: &ProviderConfig,
        keys: &Arc<dyn Keys>,
        error: &ModelError,
    ) -> Option<String> {
        if !matches!(error.kind, ModelErrorKind::NotFound | ModelErrorKind::Malformed) {
            return None;
        }
        for base_url in near(&config.base_url) {
            let there = ProviderConfig { base_url: base_url.clone(), ..config.clone() };
            if self.only(there, keys).models_of(&config.name).await.is_ok() {
                return Some(base_url);
            }
        }
        None
    }

    fn only(&self, config: ProviderConfig, keys: &Arc<dyn Keys>) -> Models {
        Models::new(vec![config], keys.clone(), self.inner.config.price_table())
    }
}

fn provider_of(config: &crate::config::Config, entry: &ProviderEntry) -> ProviderConfig {
    configured(&entry.name, &config.providers[&entry.name])
}

fn near(base_url: &str) -> Vec<String> {
    let given = base_url.trim().trim_end_matches('/');
    let root = PATHS.iter().find_map(|path| given.strip_suffix(path)).unwrap_or(given);
    let with_v1 = (!root.ends_with("/v1")).then(|| format!("{root}/v1"));
    [root.to_owned()].into_iter().chain(with_v1).filter(|url| url != given).collect()
}

/// The key that was given.
struct OneKey(Secret);

impl Keys for OneKey {
    fn key(&self, _: &str) -> Option<Secret> {
        Some(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn addresses_near_one_that_does_not_answer() {
        for (given, expected) in [
            ("http://h:1", &["http://h:1/v1"][..]),
            ("http://h:1/", &["http://h:1/v1"]),
            ("http://h/v1", &[]),
            ("https://h/api/v1/chat/completions", &["https://h/api/v1"]),
            ("http://h/chat/completions/", &["http://h", "http://h/v1"]),
        ] {
            assert_eq!(near(given), expected, "{given}");
        }
    }
}
