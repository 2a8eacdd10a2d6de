//! Keeps the model in memory only while it is in use.

use crate::{Model, OpenError, Vector};
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

/// How long the model stays in memory after its last use.
pub const IDLE: Duration = Duration::from_secs(60);

/// A model that is loaded at its first use.
pub struct Embedder {
    path: PathBuf,
    loaded: Option<Loaded>,
}

struct Loaded {
    model: Model,
    last_used: Instant,
}

impl Embedder {
    /// Uses the model that is installed at this path; reads nothing yet.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, loaded: None }
    }

    /// What the text is about; see [`Model::embed`].
    ///
    /// # Errors
    /// The model is not loaded yet and cannot be: see [`Model::open`]. The next call tries again.
    pub fn embed(&mut self, text: &str, now: Instant) -> Result<Vector, OpenError> {
        let model = match self.loaded.take() {
            Some(loaded) => loaded.model,
            None => Model::open(&self.path)?,
        };
        let vector = model.embed(text);
        self.loaded = Some(Loaded { model, last_used: now });
        Ok(vector)
    }

    /// Drops the model if it was not used for [`IDLE`]. Gives when to call this again, while it is loaded.
    pub fn drop_idle(&mut self, now: Instant) -> Option<Instant> {
        let until = self.loaded.as_ref()?.last_used + IDLE;
        if now < until {
            return Some(until);
        }
        self.loaded = None;
        None
    }
}

#[cfg(test)]
mod tests;
