//! OpenAI Chat Completions, and the servers that imitate it more or less exactly.

mod request;
mod stream;

use crate::{
    error::ModelError,
    http::Peer,
    listing,
    request::{ModelRequest, Sink},
    sse::Events,
    wire::{Place, Server, Wire},
};
use abide_protocol::transcript::Reply;
use futures_util::future::BoxFuture;
use reqwest::header::{AUTHORIZATION, HeaderMap};

pub(crate) const WIRE: Wire = Wire {
    name: "openai-chat",
    place: Place::Address {
        vendor_url: "https://api.openai.com/v1",
        is_imitated: true,
        base_url: "It is what comes before /chat/completions, and mostly ends in /v1",
    },
    server: |_| Box::new(Chat),
};

struct Chat;

impl Server for Chat {
    fn complete<'a>(
        &'a self,
        peer: &'a Peer<'a>,
        request: &'a ModelRequest,
        sink: Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(complete(peer, request, sink))
    }

    fn models<'a>(&'a self, peer: &'a Peer<'a>) -> BoxFuture<'a, Result<Vec<String>, ModelError>> {
        Box::pin(async { listing::ask(peer, peer.url("", "/models")?, headers(peer)?).await })
    }
}

async fn complete(peer: &Peer<'_>, request: &ModelRequest, sink: Sink<'_>) -> Result<Reply, ModelError> {
    let url = peer.url("", "/chat/completions")?;
    let body = request::body(peer.model, request, url.host_str() == Some("api.openai.com"))
        .map_err(|e| peer.unsendable(&e))?;
    let response = peer.post(url, headers(peer)?, body).await?;
    read(peer, Events::of(peer, response).await?, sink).await
}

/// The reply assembled from the events.
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
            // Some servers never send [DONE].
            Ok(None) | Err(_) if reply.is_finished() => break,
            Ok(None) => return Err(peer.cut()),
            Err(error) => return Err(error),
        }
    }
    reply.finish(peer.model).map_err(|fault| peer.fault(fault))
}

fn headers(peer: &Peer<'_>) -> Result<HeaderMap, ModelError> {
    Ok(peer.key_header(AUTHORIZATION, "Bearer ")?.into_iter().collect())
}
