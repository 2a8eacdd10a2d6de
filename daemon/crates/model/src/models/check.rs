//! Tests address, key and name of a model with one small request.

use super::Models;
use crate::{
    error::ModelError,
    listing::has_wanted_key,
    request::{ModelEvent, ModelRequest},
    written::Written,
};
use abide_protocol::{record::ModelErrorKind, shape::RequestShape, transcript::Entry};
use std::{sync::Arc, time::Duration};
use tokio::sync::oneshot;

/// Longer than for a loaded model: the server may have to load this one first. Shorter than the 60 s that a
/// client waits for a reply.
const TIMEOUT: Duration = Duration::from_secs(50);
/// Models that reason need some tokens before any text; the request is dropped at the first delta.
const MAX_TOKENS: u32 = 64;

impl Models {
    /// The models that a provider lists, as `provider/model`.
    ///
    /// # Errors
    /// There is no such provider, or it cannot be asked.
    pub async fn models_of(&self, provider: &str) -> Result<Vec<String>, ModelError> {
        let Some(found) = self.providers.iter().find(|p| p.config.name == provider) else {
            let shown = crate::quote::quote(provider);
            let words = format!("there is no provider `{shown}`; `abide models` lists those there are");
            return Err(ModelError::new(ModelErrorKind::NotFound, words).unsent());
        };
        Ok(self.names(found).await?.iter().map(|model| format!("{provider}/{model}")).collect())
    }

    /// The first of [`Self::models_of`].
    ///
    /// # Errors
    /// As there, or it has no models.
    pub async fn first_of(&self, provider: &str) -> Result<String, ModelError> {
        let none = || {
            let words = format!("{}: it lists no models; name one", crate::quote::quote(provider));
            ModelError::new(ModelErrorKind::NotFound, words).unsent()
        };
        self.models_of(provider).await?.into_iter().next().ok_or_else(none)
    }

    /// Sends a short prompt and drops the request when the first delta comes. A provider that needs a key and
    /// has none is not asked.
    ///
    /// # Errors
    /// Why no reply came.
    pub async fn check(&self, model: &str) -> Result<(), ModelError> {
        let (provider, name) = self.find(model)?;
        has_wanted_key(&self.peer(provider, name))?;
        let request = ModelRequest {
            model: model.to_owned(),
            system: "".into(),
            tools: Arc::new([]),
            conversation: None,
            transcript: vec![Entry::User("Reply with the word OK.".to_owned())].into(),
            written: Written::default(),
            max_output_tokens: Some(MAX_TOKENS),
            shape: RequestShape::default(),
        };
        let (spoke, first_word) = oneshot::channel();
        let mut spoke = Some(spoke);
        let mut on_event = |event: ModelEvent| {
            if matches!(event, ModelEvent::TextDelta(_) | ModelEvent::ReasoningDelta(_)) {
                spoke.take().map(|spoke| spoke.send(()));
            }
        };
        tokio::select! {
            biased;
            Ok(()) = first_word => Ok(()),
            answered = self.complete(request, &mut on_event) => answered.map(drop),
            () = tokio::time::sleep(TIMEOUT) => {
                let words = format!("{}: no word came within {} s", provider.config.name, TIMEOUT.as_secs());
                Err(ModelError::new(ModelErrorKind::Stalled, words))
            }
        }
    }
}
