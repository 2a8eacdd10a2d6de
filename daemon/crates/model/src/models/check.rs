//! Whether a model answers: its address, key and name, in one small request.

use super::Models;
use crate::{
    error::ModelError,
    listing::has_wanted_key,
    request::{ModelEvent, ModelRequest},
    written::Written,
};
use abide_protocol::{record::ModelErrorKind, transcript::Entry};
use std::{sync::Arc, time::Duration};
use tokio::sync::oneshot;

/// A model that is loaded for this needs longer than one that is there.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Models that think first need some before they say anything; the request is dropped at the first word.
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

    /// Asks a model for a few words, and drops the request when the first of them comes. A provider without its key is not asked.
    ///
    /// # Errors
    /// Why it does not answer.
    pub async fn check(&self, model: &str) -> Result<(), ModelError> {
        let (provider, name) = self.find(model)?;
        has_wanted_key(&self.peer(provider, name))?;
        let request = ModelRequest {
            model: model.to_owned(),
            system: "".into(),
            tools: Arc::new([]),
            transcript: vec![Entry::User("Reply with the word OK.".to_owned())].into(),
            written: Written::default(),
            max_output_tokens: Some(MAX_TOKENS),
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
