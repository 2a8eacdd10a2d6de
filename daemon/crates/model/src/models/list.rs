//! Asking every provider what models it has.

use super::{Models, Provider};
use crate::{anthropic, config::Api, error::ModelError, http::Peer, openai, quote::quote};
use abide_protocol::{
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
    /// What there is, provider by provider, of all or of that one. Each is asked for its models, all at once, unless `offline`.
    pub async fn list(&self, offline: bool, only: Option<&str>) -> Vec<ProviderInfo> {
        let wanted = self.providers.iter().filter(|p| only.is_none_or(|name| p.config.name == name));
        join_all(wanted.map(|provider| self.describe(provider, offline))).await
    }

    async fn describe(&self, provider: &Provider, offline: bool) -> ProviderInfo {
        let config = &provider.config;
        let peer = self.peer(provider, "");
        let found = match config.api {
            Api::Scripted => provider
                .script
                .get_or_init(|| crate::script::load(config))
                .as_ref()
                .map(|script| vec![script.name().to_owned()])
                .map_err(|e| e.message.clone()),
            _ if offline => Err("not asked".to_owned()),
            _ if config.wants_key && peer.key.is_none() => {
                Err("not asked: it wants a key and none is set".to_owned())
            }
            Api::OpenAiChat => names(&peer, openai::list(&peer, MAX_LIST, TIMEOUT).await),
            Api::Anthropic => names(&peer, anthropic::list(&peer, MAX_LIST, TIMEOUT).await),
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

/// Who is reached without TLS is on this machine or near it, and such servers seldom want a key.
fn key_state(peer: &Peer<'_>) -> KeyState {
    match &peer.key {
        Some(_) => KeyState::Present,
        None if peer.config.base_url.trim_start().starts_with("https:") => KeyState::Missing,
        None => KeyState::NotNeeded,
    }
}

fn names(peer: &Peer<'_>, answer: Result<Vec<u8>, ModelError>) -> Result<Vec<String>, String> {
    let body = answer.map_err(|e| e.message)?;
    let list: List = serde_json::from_slice(&body).map_err(|_| {
        let what = format!("what {} answers is no list of models", peer.config.shown_url());
        peer.error(ModelErrorKind::Malformed, what).message
    })?;
    let readable = |id: &String| !id.is_empty() && id.len() <= 200 && quote(id) == *id;
    Ok(list.data.into_iter().map(|item| item.id).filter(readable).take(MAX_MODELS).collect())
}
