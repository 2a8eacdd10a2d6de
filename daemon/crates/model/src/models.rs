//! All providers, and the calls to their models.

mod check;
mod embed;
mod list;
mod window;

use crate::{
    api::ServerLocation,
    config::{Keys, ProviderConfig},
    error::ModelError,
    http::{Http, Peer},
    price::Prices,
    request::{MAX_RAW, ModelEvent, ModelRequest, Sink},
    server::Server,
    shape,
    spoken::{self, Live},
    wire,
};
use abide_protocol::{
    record::{ModelErrorKind, Trace},
    shape::ToolUse,
    transcript::Reply,
};
use std::sync::Arc;
use tokio::sync::{Semaphore, SemaphorePermit};
pub use window::Window;

/// The models that can be called.
pub struct Models {
    providers: Vec<Arc<Provider>>,
    keys: Arc<dyn Keys>,
    prices: Prices,
    http: Arc<Http>,
}

struct Provider {
    config: ProviderConfig,
    places: Semaphore,
    server: Box<dyn Server>,
}

impl Models {
    /// Nothing is opened or asked yet. Of two providers with one name the first is used.
    #[must_use]
    pub fn new(providers: Vec<ProviderConfig>, keys: Arc<dyn Keys>, prices: Prices) -> Self {
        let providers = providers.into_iter().map(Provider::new).map(Arc::new).collect();
        Self { providers, keys, prices, http: Arc::default() }
    }

    /// A copy with these providers instead. Connections are kept, and so is a provider whose configuration is
    /// unchanged, so that its limit on parallel calls still counts the calls under way.
    #[must_use]
    pub fn renewed(&self, providers: Vec<ProviderConfig>, keys: Arc<dyn Keys>, prices: Prices) -> Self {
        let kept = |config: ProviderConfig| {
            let same = self.providers.iter().find(|provider| provider.config == config);
            same.cloned().unwrap_or_else(|| Arc::new(Provider::new(config)))
        };
        let providers = providers.into_iter().map(kept).collect();
        Self { providers, keys, prices, http: self.http.clone() }
    }

    /// One attempt, without retries. Dropping the future cancels the request. The calls in the reply have nil
    /// ids: the caller mints them.
    ///
    /// # Errors
    /// The attempt failed. Events that came before are void: a reply counts only when complete.
    pub async fn complete(
        &self,
        request: ModelRequest,
        on_event: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<Reply, ModelError> {
        let (provider, model) = self.find(&request.model)?;
        let _place = provider.place(on_event).await;
        let peer = self.peer(provider, model);
        let on_event: Sink<'_> = &mut |event| on_event(kept(&peer, event));
        let mut live = Live::new(request.shape.tools == ToolUse::Allowed && !request.tools.is_empty());
        let replied =
            provider.server.complete(&peer, &request, &mut |event| live.pass(event, &mut *on_event)).await;
        live.end(&mut *on_event);
        let mut reply = spoken::read(replied?, &request, on_event);
        if request.shape.tools == ToolUse::Forbidden {
            reply = shape::without_calls(reply);
        }
        let host = reqwest::Url::parse(&provider.config.base_url).ok();
        let host = host.as_ref().and_then(|url| url.host_str()).unwrap_or_default();
        if let Some(price) = self.prices.get(&provider.config.name, model, host) {
            reply.usage.cost_micros = Some(price.cost_micros(&reply.usage));
        }
        Ok(reply)
    }

    /// The provider of that name.
    #[must_use]
    pub fn provider(&self, name: &str) -> Option<&ProviderConfig> {
        self.providers.iter().map(|p| &p.config).find(|config| config.name == name)
    }

    /// In the order in which they were given.
    pub fn providers(&self) -> impl Iterator<Item = &ProviderConfig> {
        self.providers.iter().map(|p| &p.config)
    }

    /// Whether a model may be called, as far as is known without asking.
    ///
    /// # Errors
    /// No such provider, an invalid address, or no such script.
    pub fn supports(&self, model: &str) -> Result<(), ModelError> {
        let (provider, model) = self.find(model)?;
        provider.server.supports(&self.peer(provider, model))
    }

    /// Splits `provider/model`.
    fn find<'a>(&'a self, name: &'a str) -> Result<(&'a Provider, &'a str), ModelError> {
        let unknown = |what: String| ModelError::new(ModelErrorKind::NotFound, what).unsent();
        let shown = crate::quote::quote(name);
        let (provider, model) =
            name.split_once('/').filter(|(p, m)| !p.is_empty() && !m.is_empty()).ok_or_else(|| {
                unknown(format!(
                    "`{shown}` names no model; it must read PROVIDER/MODEL, as `abide models` lists them"
                ))
            })?;
        let provider = self.providers.iter().find(|p| p.config.name == provider).ok_or_else(|| {
            unknown(format!(
                "there is no provider `{}`; `abide models` lists those there are, config.toml adds more",
                crate::quote::quote(provider)
            ))
        })?;
        Ok((provider, model))
    }

    fn peer<'a>(&'a self, provider: &'a Provider, model: &'a str) -> Peer<'a> {
        let key = match provider.config.api.location() {
            ServerLocation::File => None,
            ServerLocation::Address { .. } => self.keys.key(&provider.config.name),
        };
        Peer { config: &provider.config, key, http: &self.http, model }
    }
}

/// An event as it is handed out: a trace is shortened and has no key.
fn kept(peer: &Peer<'_>, event: ModelEvent) -> ModelEvent {
    let ModelEvent::Trace(trace) = event else { return event };
    let mut raw = peer.redact(&trace.raw);
    if raw.len() > MAX_RAW {
        raw.truncate(raw.floor_char_boundary(MAX_RAW - '…'.len_utf8()));
        raw.push('…');
    }
    ModelEvent::Trace(Trace { what: peer.quoted(&trace.what), raw })
}

impl Provider {
    fn new(config: ProviderConfig) -> Self {
        let places = Semaphore::new(config.max_parallel.clamp(1, Semaphore::MAX_PERMITS));
        Self { places, server: wire::server(config.api), config }
    }

    /// Waits for a permit among the parallel calls; dropping it gives it back.
    async fn place(&self, on_event: Sink<'_>) -> Option<SemaphorePermit<'_>> {
        if let Ok(place) = self.places.try_acquire() {
            return Some(place);
        }
        on_event(ModelEvent::Waits(format!(
            "waits: {} calls to {} are under way",
            self.config.max_parallel.max(1),
            self.config.name
        )));
        // The semaphore is never closed.
        self.places.acquire().await.ok()
    }
}
