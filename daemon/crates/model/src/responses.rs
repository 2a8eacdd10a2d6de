//! OpenAI Responses. Nothing is stored at the provider: each request has the whole conversation.

mod item;
mod request;
mod stream;

use crate::{
    error::ModelError,
    http::Peer,
    listing::{self, Listed},
    reading, replay,
    request::{ModelRequest, Sink},
    server::Server,
    sse::Events,
    written::Written,
};
use abide_protocol::transcript::{Entry, Reply};
use futures_util::future::BoxFuture;
use reqwest::{
    Response,
    header::{AUTHORIZATION, HeaderMap},
};
use std::{
    collections::HashSet,
    mem,
    sync::{Arc, Mutex, PoisonError},
};

#[derive(Default)]
pub(crate) struct Responses {
    /// Models that have refused a request because it asked for encrypted reasoning. (OpenAI's own models
    /// without reasoning do.)
    without_reasoning: Mutex<HashSet<String>>,
}

impl Server for Responses {
    fn complete<'a>(
        &'a self,
        peer: &'a Peer<'a>,
        request: &'a ModelRequest,
        sink: Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(self.complete(peer, request, sink))
    }

    fn models<'a>(&'a self, peer: &'a Peer<'a>) -> BoxFuture<'a, Result<Vec<Listed>, ModelError>> {
        Box::pin(async { listing::ask(peer, peer.url("", "/models")?, headers(peer)?).await })
    }
}

impl Responses {
    /// A provider refuses a part of a request before it works on it. So the same attempt is sent again
    /// without that part.
    async fn complete(
        &self,
        peer: &Peer<'_>,
        request: &ModelRequest,
        sink: Sink<'_>,
    ) -> Result<Reply, ModelError> {
        let response = match self.ask(peer, request).await {
            Err(error) if is_about_items(&error) => self.ask(peer, &plain(request)).await?,
            response => response?,
        };
        read(peer, Events::of(peer, response), sink).await
    }

    async fn ask(&self, peer: &Peer<'_>, request: &ModelRequest) -> Result<Response, ModelError> {
        let reasons = !self.without_reasoning().contains(peer.model);
        match post(peer, request, reasons).await {
            Err(error) if reasons && is_about_reasoning(&error) => {
                self.without_reasoning().insert(peer.model.to_owned());
                post(peer, request, false).await
            }
            response => response,
        }
    }

    fn without_reasoning(&self) -> impl std::ops::DerefMut<Target = HashSet<String>> {
        self.without_reasoning.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn post(peer: &Peer<'_>, request: &ModelRequest, reasons: bool) -> Result<Response, ModelError> {
    let url = peer.url("", "/responses")?;
    let body = request::body(peer.model, request, reasons).map_err(|e| peer.unsendable(&e))?;
    peer.post(url, headers(peer)?, body).await
}

/// The model cannot give encrypted reasoning.
fn is_about_reasoning(error: &ModelError) -> bool {
    error.refuses(&["encrypted content is not supported", "reasoning.encrypted_content"])
}

/// The provider does not take its own items back: it encrypted them for another account, or misses one.
fn is_about_items(error: &ModelError) -> bool {
    error.refuses(&[
        "encrypted content",
        "encrypted_content",
        "required following item",
        "required 'reasoning' item",
    ])
}

/// The request with earlier replies as to a model that did not give them.
fn plain(request: &ModelRequest) -> ModelRequest {
    let mut transcript = request.transcript.clone();
    transcript.rewrite(|entries| {
        for entry in entries {
            if let Entry::Reply(reply) = entry {
                let reply = Arc::make_mut(reply);
                reply.blocks = replay::plain(mem::take(&mut reply.blocks));
            }
        }
    });
    ModelRequest { transcript, written: Written::default(), ..request.clone() }
}

/// The reply assembled from the events.
pub(crate) async fn read(peer: &Peer<'_>, events: Events<'_>, sink: Sink<'_>) -> Result<Reply, ModelError> {
    reading::read(peer, events, stream::Decoder::new(sink)).await
}

fn headers(peer: &Peer<'_>) -> Result<HeaderMap, ModelError> {
    Ok(peer.key_header(AUTHORIZATION, "Bearer ")?.into_iter().collect())
}
