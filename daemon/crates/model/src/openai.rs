//! OpenAI Chat Completions, and the servers that imitate it more or less exactly.

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
use abide_protocol::{shape::OutputSchema, transcript::Reply};
use futures_util::future::BoxFuture;
use reqwest::{
    Response,
    header::{AUTHORIZATION, HeaderMap},
};
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Default)]
pub(crate) struct Chat {
    /// The provider has refused a request because of its schema for the reply.
    refuses_schemas: AtomicBool,
    /// The provider has refused a request because it asked for the counts of tokens.
    refuses_usage: AtomicBool,
}

impl Server for Chat {
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

impl Chat {
    /// A provider that does not know a part of the request says so before any work: the same attempt goes on
    /// without that part.
    async fn complete(
        &self,
        peer: &Peer<'_>,
        request: &ModelRequest,
        sink: Sink<'_>,
    ) -> Result<Reply, ModelError> {
        let mut schema = request.shape.output_schema.as_deref();
        schema = schema.filter(|_| !self.refuses_schemas.load(Ordering::Relaxed));
        let mut counts = !self.refuses_usage.load(Ordering::Relaxed);
        let response = loop {
            match post(peer, request, schema, counts).await {
                Err(error) if schema.is_some() && is_about_schemas(&error) => {
                    self.refuses_schemas.store(true, Ordering::Relaxed);
                    schema = None;
                }
                Err(error) if counts && error.refuses(&["stream_options", "include_usage"]) => {
                    self.refuses_usage.store(true, Ordering::Relaxed);
                    counts = false;
                }
                response => break response?,
            }
        };
        read(peer, Events::of(peer, response), sink).await
    }
}

async fn post(
    peer: &Peer<'_>,
    request: &ModelRequest,
    schema: Option<&OutputSchema>,
    counts: bool,
) -> Result<Response, ModelError> {
    let url = peer.url("", "/chat/completions")?;
    let by_openai = url.host_str() == Some("api.openai.com");
    let body =
        request::body(peer.model, request, by_openai, schema, counts).map_err(|e| peer.unsendable(&e))?;
    peer.post(url, headers(peer)?, body).await
}

/// Whether the provider names the field, by its name or by those that providers use in messages.
fn is_about_schemas(error: &ModelError) -> bool {
    error.refuses(&[
        "response_format",
        "response format",
        "json_schema",
        "json schema",
        "structured output",
        "grammar",
    ])
}

/// The reply assembled from the events.
pub(crate) async fn read(peer: &Peer<'_>, events: Events<'_>, sink: Sink<'_>) -> Result<Reply, ModelError> {
    reading::read(peer, events, stream::Decoder::new(sink)).await
}

fn headers(peer: &Peer<'_>) -> Result<HeaderMap, ModelError> {
    Ok(peer.key_header(AUTHORIZATION, "Bearer ")?.into_iter().collect())
}
