//! Asks every provider for its models.

use super::{Models, Provider};
use crate::{api::ServerLocation, error::ModelError, http::Peer};
use abide_protocol::{
    method::daemon::ListModelsParams,
    provider::{KeyState, ProviderInfo},
};
use futures_util::future::join_all;

impl Models {
    /// All providers with their models, asked at the same time.
    pub async fn list(&self, params: &ListModelsParams) -> Vec<ProviderInfo> {
        let ListModelsParams { offline, provider: only } = params;
        let wanted =
            self.providers.iter().filter(|p| only.as_ref().is_none_or(|name| p.config.name == *name));
        join_all(wanted.map(|provider| self.describe(provider, *offline))).await
    }

    /// The models that a provider lists, by its own names.
    pub(super) async fn names(&self, provider: &Provider) -> Result<Vec<String>, ModelError> {
        let listed = provider.server.models(&self.peer(provider, "")).await?;
        Ok(listed.into_iter().map(|model| model.name).collect())
    }

    async fn describe(&self, provider: &Provider, offline: bool) -> ProviderInfo {
        let config = &provider.config;
        let peer = self.peer(provider, "");
        let found = if offline && config.api.location() != ServerLocation::File {
            Err("not asked".to_owned())
        } else {
            self.names(provider).await.map_err(|e| e.message)
        };
        let (models, problem) = match found {
            Ok(models) if models.is_empty() => (models, Some("it has no models".to_owned())),
            Ok(models) => (models, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        ProviderInfo {
            name: config.name.clone(),
            api: config.api.name().to_owned(),
            base_url: config.shown_url(),
            source: config.source.clone(),
            key: key_state(&peer),
            models: models.iter().map(|model| format!("{}/{model}", config.name)).collect(),
            problem,
        }
    }
}

/// A server without TLS is on this machine or near it, and seldom needs a key.
fn key_state(peer: &Peer<'_>) -> KeyState {
    match &peer.key {
        Some(_) => KeyState::Present,
        None if peer.config.base_url.trim_start().starts_with("https:") => KeyState::Missing,
        None => KeyState::NotNeeded,
    }
}
