//! Anthropic Messages.

mod request;
mod stream;

use crate::{
    error::ModelError,
    http::Peer,
    request::{ModelRequest, Sink},
    sse::Events,
};
use abide_protocol::transcript::Reply;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use std::time::Duration;

/// One attempt.
pub(crate) async fn complete(
    peer: &Peer<'_>,
    request: &ModelRequest,
    sink: Sink<'_>,
) -> Result<Reply, ModelError> {
    let url = peer.url("/v1", "/v1/messages")?;
    let body = request::body(peer.model, request).map_err(|e| peer.unsendable(&e))?;
    let response = peer.post(url, headers(peer)?, body).await?;
    read(peer, Events::of(peer, response).await?, sink).await
}

/// The reply that the events tell.
pub(crate) async fn read(
    peer: &Peer<'_>,
    mut events: Events<'_>,
    sink: Sink<'_>,
) -> Result<Reply, ModelError> {
    let mut reply = stream::Decoder::new(sink);
    loop {
        match events.next().await {
            Ok(Some(data)) => reply.event(&data).map_err(|fault| peer.fault(fault))?,
            Ok(None) | Err(_) if reply.is_finished() => break,
            Ok(None) => return Err(peer.cut()),
            Err(error) => return Err(error),
        }
        if reply.is_over() {
            events.drain().await;
            break;
        }
    }
    reply.finish(peer.model).map_err(|fault| peer.fault(fault))
}

/// The document that lists models, as bytes.
pub(crate) async fn list(peer: &Peer<'_>, max: usize, within: Duration) -> Result<Vec<u8>, ModelError> {
    peer.get(peer.url("/v1", "/v1/models?limit=1000")?, headers(peer)?, max, within).await
}

fn headers(peer: &Peer<'_>) -> Result<HeaderMap, ModelError> {
    let mut headers: HeaderMap =
        peer.key_header(HeaderName::from_static("x-api-key"), "")?.into_iter().collect();
    headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    Ok(headers)
}
