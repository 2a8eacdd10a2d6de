//! The models that can be asked: what configuration, environment and keys say, and what is found on loopback.

use crate::{
    config::Config,
    keys::KeyStore,
    providers::{Facts, NoSuchModel, Providers},
};
use abide_model::{Keys, Models, ProviderConfig};
use abide_protocol::{
    method::daemon::ListModelsReply,
    provider::{DefaultModel, ProviderInfo},
};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// Cheap to clone.
#[derive(Clone)]
pub struct Catalog {
    inner: Arc<Inner>,
}

struct Inner {
    config: Arc<Config>,
    keys: Arc<KeyStore>,
    openai_base_url: Option<String>,
    /// Model servers on loopback with their models; looked for once, when first needed.
    local: OnceCell<Vec<(ProviderConfig, Vec<String>)>>,
    models: OnceCell<Arc<Models>>,
}

impl Catalog {
    #[must_use]
    pub fn new(config: Arc<Config>, keys: Arc<KeyStore>, openai_base_url: Option<String>) -> Self {
        let inner = Inner { config, keys, openai_base_url, local: OnceCell::new(), models: OnceCell::new() };
        Self { inner: Arc::new(inner) }
    }

    /// Looks for what is on loopback, and says what was found.
    pub async fn warm(&self) {
        self.inner.keys.fetch().await;
        let providers = self.providers().await;
        tracing::info!(default = providers.default.model, why = providers.default.why, "models");
    }

    /// The models as they are asked.
    pub async fn models(&self) -> Arc<Models> {
        let make = || async {
            self.inner.keys.fetch().await;
            let keys: Arc<dyn Keys> = self.inner.keys.clone();
            Arc::new(Models::new(self.providers().await.configs, keys, self.inner.config.price_table()))
        };
        self.inner.models.get_or_init(make).await.clone()
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
        // A model that is named need not wait for a look at loopback, unless its provider may be there.
        let configured = self.providers_with(&[]);
        if (task.is_some() || conversation.is_some() || self.inner.config.model.default.is_some())
            && let Ok(choice) = configured.choose(task, conversation)
        {
            return Ok(choice);
        }
        self.providers().await.choose(task, conversation)
    }

    /// Providers and models, and which is the default and why.
    pub async fn list(&self, offline: bool) -> ListModelsReply {
        let default = self.providers().await.default;
        let providers: Vec<ProviderInfo> = self.models().await.list(offline).await;
        ListModelsReply { providers, default }
    }

    async fn providers(&self) -> Providers {
        let local = self.inner.local.get_or_init(|| self.find_local()).await;
        self.providers_with(local)
    }

    fn providers_with(&self, local: &[(ProviderConfig, Vec<String>)]) -> Providers {
        Providers::of(Facts {
            config: &self.inner.config,
            openai_base_url: self.inner.openai_base_url.as_deref(),
            key: &|provider| self.inner.keys.origin(provider),
            local,
        })
    }

    async fn find_local(&self) -> Vec<(ProviderConfig, Vec<String>)> {
        let found = abide_model::find_local().await;
        if found.is_empty() {
            return Vec::new();
        }
        let keys: Arc<dyn Keys> = self.inner.keys.clone();
        let listed = Models::new(found.clone(), keys, self.inner.config.price_table()).list(false).await;
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
