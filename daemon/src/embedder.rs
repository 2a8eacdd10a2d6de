//! Says what texts mean, as vectors, where the configuration wants it and a model is installed. Everything
//! goes on without it: the memory then finds passages by their words alone.

mod built_in;
mod index;

pub use index::keep_indexed;

use crate::{config::EmbedderConfig, settings::Settings};
use abide_embedding::{OpenError, Vector};
use built_in::BuiltIn;
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::sync::Notify;

/// Cheap to clone.
#[derive(Clone)]
pub struct Embedder {
    settings: Settings,
    built_in: Arc<BuiltIn>,
    /// There may be passages without a vector.
    wake: Arc<Notify>,
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
}

impl Embedder {
    /// Uses the model at this path, if there is one whenever it is needed.
    #[must_use]
    pub fn new(settings: Settings, model: PathBuf) -> Self {
        Self { settings, built_in: Arc::new(BuiltIn::new(model)), wake: Arc::default() }
    }

    /// The name of the embedder that serves now.
    ///
    /// # Errors
    /// There is none.
    pub async fn serving(&self) -> Result<&'static str, EmbedError> {
        let wanted = self.settings.recent().await.config().memory.embedder;
        match wanted {
            EmbedderConfig::Off => Err(EmbedError::Off),
            EmbedderConfig::Auto | EmbedderConfig::Builtin if self.built_in.is_installed().await => {
                Ok(abide_embedding::ID)
            }
            EmbedderConfig::Auto => Err(EmbedError::NotInstalled),
            EmbedderConfig::Builtin => Err(EmbedError::Missing),
        }
    }

    /// What each of the texts means. The first call loads the model.
    ///
    /// # Errors
    /// No embedder serves, or its model cannot be loaded.
    pub async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        self.serving().await?;
        self.built_in.embed(texts).await
    }

    /// What a text means, within this time.
    ///
    /// # Errors
    /// See [`Self::embed`].
    pub async fn embed_within(&self, limit: Duration, text: String) -> Result<Vector, EmbedError> {
        let embedded = tokio::time::timeout(limit, self.embed(vec![text])).await;
        embedded.map_err(|_| EmbedError::Late(limit))??.pop().ok_or(EmbedError::Busy)
    }

    /// Looks for passages without a vector as soon as nothing else is at work.
    pub fn look(&self) {
        self.wake.notify_one();
    }
}
