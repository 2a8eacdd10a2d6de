//! Anthropic Messages.

mod request;
mod stream;

use crate::{
    error::ModelError,
    http::Peer,
    listing::{self, Listed},
    reading,
    request::{ModelRequest, Sink},
    server::Server,
    sse::Events,
};
use abide_protocol::transcript::Reply;
use futures_util::future::BoxFuture;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

pub(crate) struct Messages;

impl Server for Messages {
    fn complete<'a>(
        &'a self,
        peer: &'a Peer<'a>,
        request: &'a ModelRequest,
        sink: Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(complete(peer, request, sink))
    }

    fn models<'a>(&'a self, peer: &'a Peer<'a>) -> BoxFuture<'a, Result<Vec<Listed>, ModelError>> {
        Box::pin(async {
            listing::ask(peer, peer.url("/v1", "/v1/models?limit=1000")?, headers(peer)?).await
        })
    }
}

async fn complete(peer: &Peer<'_>, request: &ModelRequest, sink: Sink<'_>) -> Result<Reply, ModelError> {
    let url = peer.url("/v1", "/v1/messages")?;
    let body = request::body(peer.model, request).map_err(|e| peer.unsendable(&e))?;
    let response = peer.post(url, headers(peer)?, body).await?;
    read(peer, Events::of(peer, response), sink).await
}

/// The reply assembled from the events.
pub(crate) async fn read(peer: &Peer<'_>, events: Events<'_>, sink: Sink<'_>) -> Result<Reply, ModelError> {
    reading::read(peer, events, stream::Decoder::new(sink)).await
}

fn headers(peer: &Peer<'_>) -> Result<HeaderMap, ModelError> {
    let mut headers: HeaderMap =
        peer.key_header(HeaderName::from_static("x-api-key"), "")?.into_iter().collect();
    headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    Ok(headers)
}
