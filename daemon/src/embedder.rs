//! Says what texts mean, as vectors, where the configuration wants it and there is a model for it. Everything
//! goes on without it: the memory then finds passages by their words alone.

mod built_in;
mod index;

use crate::{catalog::Catalog, config::EmbedderConfig, settings::Settings};
use abide_embedding::{OpenError, in_bytes};
use abide_model::{ModelError, Models};
use abide_protocol::record::ModelErrorKind;
use built_in::{BuiltIn, Priority};
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::sync::Notify;

/// How many texts a server is sent at once.
const AT_ONCE: usize = 32;

/// Cheap to clone.
#[derive(Clone)]
pub struct Embedder {
    settings: Settings,
    built_in: Arc<BuiltIn>,
    /// There may be passages without a vector.
    wake: Arc<Notify>,
}

/// The embedder that serves now.
pub struct Serving {
    /// Names the model and the program that runs it: vectors of another name cannot be compared with these.
    pub name: String,
    by: By,
}

enum By {
    BuiltIn,
    /// `provider/model`.
    Server(Arc<Models>, String),
}

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("`[memory] embedder` is \"off\"")]
    Off,
    #[error("no embedding model is installed (abide memory install)")]
    NotInstalled,
    #[error("no embedding model is installed, as `[memory] embedder` wants it (abide memory install)")]
    Missing,
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Server(#[from] ModelError),
    #[error("the embedding model took longer than {} s", .0.as_secs())]
    Late(Duration),
    #[error("the embedding model has too much to do, or the daemon ends")]
    Busy,
}

impl EmbedError {
    /// Nobody has asked for vectors.
    #[must_use]
    pub const fn is_no_problem(&self) -> bool {
        matches!(self, Self::Off | Self::NotInstalled)
    }

    /// A server has answered that it cannot embed these texts.
    const fn refuses_texts(&self) -> bool {
        use ModelErrorKind::{BadRequest, ContextOverflow, ServerError};
        matches!(self, Self::Server(ModelError { kind: BadRequest | ContextOverflow | ServerError, .. }))
    }
}

impl Serving {
    /// How many texts are embedded at once. The built-in model takes one by one, so that a query does not
    /// wait for long.
    const fn at_once(&self) -> usize {
        match &self.by {
            By::BuiltIn => 1,
            By::Server(..) => AT_ONCE,
        }
    }

    async fn model_of_server(catalog: &Catalog, model: String) -> Result<Self, EmbedError> {
        let models = catalog.models().await;
        models.supports(&model)?;
        let provider = model.split_once('/').and_then(|(provider, _)| models.provider(provider));
        let at = provider.map(abide_model::ProviderConfig::shown_url).unwrap_or_default();
        // Another server has other vectors for the same model.
        Ok(Self { name: format!("{model} at {at}"), by: By::Server(models, model) })
    }
}

impl Embedder {
    /// Uses the built-in model at this path, if there is one whenever it is needed.
    #[must_use]
    pub fn new(settings: Settings, model: PathBuf) -> Self {
        Self { settings, built_in: Arc::new(BuiltIn::new(model)), wake: Arc::default() }
    }

    /// The embedder that serves now.
    ///
    /// # Errors
    /// There is none.
    pub async fn serving(&self) -> Result<Serving, EmbedError> {
        let catalog = self.settings.recent().await;
        let wanted = &catalog.config().memory.embedder;
        match wanted {
            EmbedderConfig::Off => Err(EmbedError::Off),
            EmbedderConfig::Model(model) => Serving::model_of_server(&catalog, model.clone()).await,
            EmbedderConfig::Auto | EmbedderConfig::Builtin if self.built_in.is_installed().await => {
                Ok(Serving { name: abide_embedding::ID.to_owned(), by: By::BuiltIn })
            }
            EmbedderConfig::Auto => match catalog.local_embedder().await {
                Some(model) => Serving::model_of_server(&catalog, model).await,
                None => Err(EmbedError::NotInstalled),
            },
            EmbedderConfig::Builtin => Err(EmbedError::Missing),
        }
    }

    /// The embedder's name, and what each of the texts means, in their order: vectors of one length. The first
    /// call loads the model.
    ///
    /// # Errors
    /// No embedder serves, its model cannot be loaded, or its server fails.
    pub async fn embed(&self, texts: &[String]) -> Result<(String, Vec<Vec<f32>>), EmbedError> {
        let serving = self.serving().await?;
        let vectors = self.embed_by(&serving, texts, Priority::Usual).await?;
        Ok((serving.name, vectors))
    }

    async fn embed_by(
        &self,
        serving: &Serving,
        texts: &[String],
        priority: Priority,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        match &serving.by {
            By::BuiltIn => self.built_in.embed(texts, priority).await,
            By::Server(models, model) => Ok(models.embed(model, texts).await?),
        }
    }

    /// The embedder's name, and what a query means to it, a byte a number.
    ///
    /// # Errors
    /// See [`Self::embed`]; or it took longer than the limit.
    pub async fn of_query(&self, text: String, limit: Duration) -> Result<(String, Vec<i8>), EmbedError> {
        let embedded = async {
            let serving = self.serving().await?;
            let vector =
                self.embed_by(&serving, &[text], Priority::Usual).await?.pop().ok_or(EmbedError::Busy)?;
            Ok((serving.name, in_bytes(&vector)))
        };
        tokio::time::timeout(limit, embedded).await.unwrap_or(Err(EmbedError::Late(limit)))
    }

    /// Looks for passages without a vector as soon as nothing else is at work.
    pub fn look(&self) {
        self.wake.notify_one();
    }
}
