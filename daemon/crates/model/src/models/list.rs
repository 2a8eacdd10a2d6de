//! Asking every provider what models it has.

use super::{Models, Provider};
use crate::{anthropic, config::Api, error::ModelError, http::Peer, openai, quote::quote};
use abide_protocol::{
    method::daemon::ListModelsParams,
    provider::{KeyState, ProviderInfo},
    record::ModelErrorKind,
};
use futures_util::future::join_all;
use serde::Deserialize;
use std::time::Duration;

/// How long a provider may take to list its models.
const TIMEOUT: Duration = Duration::from_secs(4);
/// The longest list, in bytes, and in models.
const MAX_LIST: usize = 4 * 1024 * 1024;
const MAX_MODELS: usize = 2_000;

/// Both apis list models in this shape.
#[derive(Deserialize)]
struct List {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    id: String,
}

impl Models {
    /// What there is, provider by provider. All are asked for their models at once.
    pub async fn list(&self, params: &ListModelsParams) -> Vec<ProviderInfo> {
        let ListModelsParams { offline, provider: only } = params;
        let wanted =
            self.providers.iter().filter(|p| only.as_ref().is_none_or(|name| p.config.name == *name));
        join_all(wanted.map(|provider| self.describe(provider, *offline))).await
    }

    /// The models that a provider says it has, by its own names.
    pub(super) async fn names(&self, provider: &Provider) -> Result<Vec<String>, ModelError> {
        let config = &provider.config;
        let peer = self.peer(provider, "");
        let body = match config.api {
            Api::Scripted => {
                let script = provider.script.get_or_init(|| crate::script::load(config));
                return script.as_ref().map(|s| vec![s.name().to_owned()]).map_err(Clone::clone);
            }
            Api::OpenAiChat => {
                has_wanted_key(&peer)?;
                openai::list(&peer, MAX_LIST, TIMEOUT).await?
            }
            Api::Anthropic => {
                has_wanted_key(&peer)?;
                anthropic::list(&peer, MAX_LIST, TIMEOUT).await?
            }
        };
        names(&peer, &body)
    }

    async fn describe(&self, provider: &Provider, offline: bool) -> ProviderInfo {
        let config = &provider.config;
        let peer = self.peer(provider, "");
        let found = if offline && config.api != Api::Scripted {
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

/// A vendor that says nothing to anybody without a key need not be asked.
pub(super) fn has_wanted_key(peer: &Peer<'_>) -> Result<(), ModelError> {
    if peer.config.wants_key && peer.key.is_none() {
        let words = "not asked: it wants a key and none is set";
        return Err(ModelError::new(ModelErrorKind::Auth, words).unsent());
    }
    Ok(())
}

/// Who is reached without TLS is on this machine or near it, and such servers seldom want a key.
fn key_state(peer: &Peer<'_>) -> KeyState {
    match &peer.key {
        Some(_) => KeyState::Present,
        None if peer.config.base_url.trim_start().starts_with("https:") => KeyState::Missing,
        None => KeyState::NotNeeded,
    }
}

fn names(peer: &Peer<'_>, body: &[u8]) -> Result<Vec<String>, ModelError> {
    let list: List = serde_json::from_slice(body).map_err(|_| {
        let what = format!("what {} answers is no list of models", peer.config.shown_url());
        peer.error(ModelErrorKind::Malformed, what)
    })?;
    let readable = |id: &String| !id.is_empty() && id.len() <= 200 && quote(id) == *id;
    Ok(list.data.into_iter().map(|item| item.id).filter(readable).take(MAX_MODELS).collect())
}
