//! The models available under one configuration: from the configuration, the environment, the keys, and the
//! model servers found on loopback.

mod check;

use crate::{
    config::Config,
    keys::{ConfiguredKeys, KeyStore},
    providers::{Facts, NoSuchModel, Providers},
};
use abide_model::{Keys, ModelError, Models, ProviderConfig};
use abide_protocol::{
    method::daemon::{ListModelsParams, ListModelsReply, ModeSteps},
    provider::{DefaultModel, ProviderInfo},
    task::Mode,
};
use abide_rules::Standing;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reads a variable of the daemon's environment.
pub type Variable = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What names of embedding models have in them.
const EMBEDDERS: [&str; 5] = ["embed", "minilm", "bge-", "gte-", "e5-"];

/// Model servers on loopback, each with its models, as `provider/model`.
type Found = Vec<(ProviderConfig, Vec<String>)>;

/// Immutable: another configuration makes another catalog ([`Self::renewed`]). Cheap to clone.
#[derive(Clone)]
pub struct Catalog {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    /// The rules of its policy.
    policy: Vec<Standing>,
    keys: Arc<ConfiguredKeys>,
    variable: Variable,
    /// The servers last found on loopback, shared by all configurations; `None` before the first search.
    local: Arc<Mutex<Option<Arc<Found>>>>,
    /// The models, built when first needed and again when other servers are found.
    made: Mutex<Option<Made>>,
}

#[derive(Clone)]
struct Made {
    of: Arc<Found>,
    models: Arc<Models>,
}

impl Catalog {
    #[must_use]
    pub fn new(config: Config, kept: Arc<KeyStore>, variable: Variable) -> Self {
        let keys = Arc::new(ConfiguredKeys::new(kept, &config, &*variable));
        let policy = config.policy.rules();
        let inner = Inner { config, policy, keys, variable, local: Arc::default(), made: Mutex::default() };
        Self { inner: Arc::new(inner) }
    }

    /// A catalog for another configuration. A provider with unchanged settings keeps its connections and its
    /// count of running calls.
    #[must_use]
    pub fn renewed(&self, config: Config) -> Self {
        let before = &*self.inner;
        let variable = before.variable.clone();
        let keys = Arc::new(ConfiguredKeys::new(before.keys.kept().clone(), &config, &*variable));
        let made = Mutex::new(lock(&before.made).clone());
        let (policy, local) = (config.policy.rules(), before.local.clone());
        let catalog = Self { inner: Arc::new(Inner { config, policy, keys, variable, local, made }) };
        catalog.rebuild();
        catalog
    }

    #[must_use]
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// The rules that stand everywhere.
    #[must_use]
    pub fn policy(&self) -> &[Standing] {
        &self.inner.policy
    }

    #[must_use]
    pub fn keys(&self) -> &ConfiguredKeys {
        &self.inner.keys
    }

    /// Fetches keys, searches loopback and logs the default model.
    pub async fn warm(&self) {
        self.inner.keys.kept().fetch().await;
        let default = self.default_model().await;
        tracing::info!(default = default.model, why = default.why, "models");
    }

    /// The models, for calls.
    pub async fn models(&self) -> Arc<Models> {
        if lock(&self.inner.made).is_none() {
            self.inner.keys.kept().fetch().await;
        }
        let local = self.local().await;
        let mut made = lock(&self.inner.made);
        match &*made {
            Some(Made { of, models }) if Arc::ptr_eq(of, &local) => models.clone(),
            before => {
                let models = self.make(before.as_ref(), &local);
                *made = Some(Made { of: local, models: models.clone() });
                models
            }
        }
    }

    /// The model of a task: its own, else its conversation's, else the default.
    ///
    /// # Errors
    /// There is no such provider.
    pub async fn choose(
        &self,
        task: Option<&str>,
        conversation: Option<&str>,
    ) -> Result<DefaultModel, NoSuchModel> {
        // A named model need not wait for the search of loopback, unless its provider may be there.
        let configured = self.providers_with(&[]);
        if (task.is_some() || conversation.is_some() || self.inner.config.model.default.is_some())
            && let Ok(choice) = configured.choose(task, conversation)
        {
            return Ok(choice);
        }
        self.providers_with(&self.local().await).choose(task, conversation)
    }

    /// The model for tasks that name none, and the reason for it.
    pub async fn default_model(&self) -> DefaultModel {
        self.providers_with(&self.local().await).default
    }

    /// Asks a model for a few words: the named one, or a provider's default or first one. Returns which was
    /// asked, and the error if it failed.
    pub async fn check(&self, named: &str) -> (String, Option<ModelError>) {
        let models = self.models().await;
        let model = if named.contains('/') {
            named.to_owned()
        } else {
            let default = self.default_model().await.model;
            if default.split_once('/').is_some_and(|(provider, _)| provider == named) {
                default
            } else {
                match models.first_of(named).await {
                    Ok(model) => model,
                    Err(error) => return (named.to_owned(), Some(error)),
                }
            }
        };
        let failure = models.check(&model).await.err();
        (model, failure)
    }

    /// The first embedding model of a server found on loopback, as its name says: servers list them among the
    /// others.
    pub async fn local_embedder(&self) -> Option<String> {
        let local = self.local().await;
        local.iter().flat_map(|(_, models)| models).find(|model| is_embedder(model)).cloned()
    }

    /// Providers (all, or the requested one) with their models, and the default model. Searches loopback
    /// again unless one provider is requested.
    pub async fn list(&self, params: &ListModelsParams) -> ListModelsReply {
        let local = if params.provider.is_some() { self.local().await } else { self.look().await };
        let default = self.providers_with(&local).default;
        let providers: Vec<ProviderInfo> = self.models().await.list(params).await;
        let task = &self.inner.config.task;
        let mode = task.mode.unwrap_or_default();
        let steps = |mode: &Mode| ModeSteps { mode: *mode, max_steps: task.limits(*mode).max_steps };
        let steps = Mode::ALL.iter().map(steps).collect();
        ListModelsReply { providers, default, limits: task.limits(mode), mode, steps }
    }

    fn make(&self, before: Option<&Made>, local: &Found) -> Arc<Models> {
        let configs = self.providers_with(local).configs;
        let (keys, prices) = (self.inner.keys.clone() as Arc<dyn Keys>, self.inner.config.price_table());
        Arc::new(match before {
            Some(before) => before.models.renewed(configs, keys, prices),
            None => Models::new(configs, keys, prices),
        })
    }

    fn rebuild(&self) {
        let mut made = lock(&self.inner.made);
        if let Some(before) = &*made {
            let models = self.make(Some(before), &before.of);
            *made = Some(Made { of: before.of.clone(), models });
        }
    }

    fn providers_with(&self, local: &[(ProviderConfig, Vec<String>)]) -> Providers {
        Providers::of(Facts {
            config: &self.inner.config,
            openai_base_url: (self.inner.variable)("OPENAI_BASE_URL").as_deref(),
            key: &|provider| self.inner.keys.origin(provider),
            local,
        })
    }

    /// The servers found on loopback; searches if none was made before.
    async fn local(&self) -> Arc<Found> {
        let known = lock(&self.inner.local).clone();
        match known {
            Some(known) => known,
            None => self.look().await,
        }
    }

    async fn look(&self) -> Arc<Found> {
        let found = self.find_local().await;
        let mut known = lock(&self.inner.local);
        match &*known {
            Some(known) if **known == found => known.clone(),
            _ => known.insert(Arc::new(found)).clone(),
        }
    }

    async fn find_local(&self) -> Found {
        let found = abide_model::find_local().await;
        if found.is_empty() {
            return Vec::new();
        }
        let keys: Arc<dyn Keys> = self.inner.keys.clone();
        let listed = Models::new(found.clone(), keys, self.inner.config.price_table())
            .list(&ListModelsParams::default())
            .await;
        let models_of =
            |name: &str| listed.iter().find(|info| info.name == name).map(|info| info.models.clone());
        found
            .into_iter()
            .map(|config| {
                let models = models_of(&config.name).unwrap_or_default();
                (config, models)
            })
            .collect()
    }
}

/// Whether the model's name says that it is an embedding model.
pub(crate) fn is_embedder(model: &str) -> bool {
    EMBEDDERS.iter().any(|part| model.to_lowercase().contains(part))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::is_embedder;

    #[test]
    fn an_embedding_model_is_known_by_its_name() {
        let embedders =
            ["nomic-embed-text:latest", "Qwen3-Embedding-0.6B", "all-minilm", "bge-m3", "e5-large"];
        let others = ["llama3.2:3b", "smollm2", "qwen3-coder", "phi-3.5-mini", "gemma3:4b"];
        assert!(embedders.iter().all(|name| is_embedder(&format!("ollama/{name}"))));
        assert!(!others.iter().any(|name| is_embedder(&format!("ollama/{name}"))));
    }
}
