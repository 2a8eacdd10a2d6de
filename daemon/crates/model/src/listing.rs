//! Lists a server's models, in the format that all servers share.

use crate::{error::ModelError, http::Peer, quote::quote};
use abide_protocol::record::ModelErrorKind;
use reqwest::{Url, header::HeaderMap};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// How long a provider may take to list its models.
const TIMEOUT: Duration = Duration::from_secs(4);
/// The limits of a list: its bytes, and its number of models.
const MAX_LIST: usize = 4 * 1024 * 1024;
const MAX_MODELS: usize = 2_000;
/// The longest name of a model, in bytes.
const MAX_NAME: usize = 200;

#[derive(Deserialize)]
struct List {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    id: String,
    /// The window, by the names that servers give it. Any values, since an odd one is no reason to lose the
    /// list.
    #[serde(default)]
    max_model_len: Value,
    #[serde(default)]
    context_length: Value,
    #[serde(default)]
    context_window: Value,
    #[serde(default)]
    max_context_length: Value,
}

impl Item {
    fn window(&self) -> Option<u64> {
        [&self.max_model_len, &self.context_length, &self.context_window, &self.max_context_length]
            .into_iter()
            .find_map(Value::as_u64)
    }
}

/// A model as its server lists it.
pub(crate) struct Listed {
    /// The provider's own name.
    pub(crate) name: String,
    /// Its context window, in tokens, if the list has it.
    pub(crate) window: Option<u64>,
}

/// The names at `url`. A vendor that answers nothing without a key is not asked without one.
pub(crate) async fn ask(peer: &Peer<'_>, url: Url, headers: HeaderMap) -> Result<Vec<Listed>, ModelError> {
    has_wanted_key(peer)?;
    let body = peer.get(url, headers, MAX_LIST, TIMEOUT).await?;
    let list: List = serde_json::from_slice(&body).map_err(|_| {
        let what = format!("the answer of {} is no list of models", peer.config.shown_url());
        peer.error(ModelErrorKind::Malformed, what)
    })?;
    let readable = |id: &str| !id.is_empty() && id.len() <= MAX_NAME && quote(id) == id;
    let listed = |item: Item| Listed { window: item.window(), name: item.id };
    Ok(list.data.into_iter().filter(|item| readable(&item.id)).map(listed).take(MAX_MODELS).collect())
}

/// Fails if the provider needs a key and has none.
pub(crate) fn has_wanted_key(peer: &Peer<'_>) -> Result<(), ModelError> {
    if peer.config.wants_key && peer.key.is_none() {
        let words = "not asked: it wants a key and none is set";
        return Err(ModelError::new(ModelErrorKind::Auth, words).unsent());
    }
    Ok(())
}
