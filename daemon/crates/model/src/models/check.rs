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

/// Longer than for a loaded model: the server may have to load this one first.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Models that reason need some tokens before any text; the request is dropped at the first delta.
const MAX_TOKENS: u32 = 64;

impl Models {
    /// The first model that a provider lists, as `provider/model`.
    ///
    /// # Errors
    /// There is no such provider, it cannot be asked, or it has no models.
    pub async fn first_of(&self, provider: &str) -> Result<String, ModelError> {
        let no_model = |words: String| ModelError::new(ModelErrorKind::NotFound, words).unsent();
        let shown = crate::quote::quote(provider);
        let Some(found) = self.providers.iter().find(|p| p.config.name == provider) else {
            return Err(no_model(format!(
                "there is no provider `{shown}`; `abide models` lists those there are"
            )));
        };
        let names = self.names(found).await?;
        let first =
            names.first().ok_or_else(|| no_model(format!("{shown}: it lists no models; name one")))?;
        Ok(format!("{provider}/{first}"))
    }

    /// Sends a short prompt and drops the request when the first delta comes. A provider that needs a key and has none is not
    /// asked.
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
