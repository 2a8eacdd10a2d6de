//! OpenAI Chat Completions, and the servers that imitate it more or less exactly.

mod request;
mod stream;

use crate::{
    error::ModelError,
    http::Peer,
    request::{ModelRequest, Sink},
    sse::Events,
};
use abide_protocol::transcript::Reply;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use std::time::Duration;

/// One attempt.
pub(crate) async fn complete(
    peer: &Peer<'_>,
    request: &ModelRequest,
    sink: Sink<'_>,
) -> Result<Reply, ModelError> {
    let url = peer.url("", "/chat/completions")?;
    let body = request::body(peer.model, request, url.host_str() == Some("api.openai.com"))
        .map_err(|e| peer.unsendable(&e))?;
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
            Ok(Some(data)) if data.trim() == "[DONE]" => {
                events.drain().await;
                break;
            }
            Ok(Some(data)) => reply.event(&data).map_err(|fault| peer.fault(fault))?,
            // Some never say [DONE].
            Ok(None) | Err(_) if reply.is_finished() => break,
            Ok(None) => return Err(peer.cut()),
            Err(error) => return Err(error),
        }
    }
    reply.finish(peer.model).map_err(|fault| peer.fault(fault))
}

/// The document that lists models, as bytes.
pub(crate) async fn list(peer: &Peer<'_>, max: usize, within: Duration) -> Result<Vec<u8>, ModelError> {
    peer.get(peer.url("", "/models")?, headers(peer)?, max, within).await
}

fn headers(peer: &Peer<'_>) -> Result<HeaderMap, ModelError> {
    Ok(peer.key_header(AUTHORIZATION, "Bearer ")?.into_iter().collect())
}
