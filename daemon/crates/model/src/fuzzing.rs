//! Reads a reply without the network, for `tests/fuzz`.

use crate::{
    anthropic,
    api::Api,
    config::ProviderConfig,
    error::ModelError,
    http::{Http, Peer},
    openai,
    request::ModelEvent,
    responses,
    sse::Events,
};
use abide_protocol::transcript::Reply;
use bytes::Bytes;
use futures_util::stream;

/// Reads `body`, in pieces of at most `piece` bytes, as the stream of a provider with that api.
///
/// # Errors
/// The body is not a finished reply.
pub async fn read(
    api: Api,
    body: &[u8],
    piece: usize,
    on_event: &mut (dyn FnMut(ModelEvent) + Send),
) -> Result<Reply, ModelError> {
    let config = ProviderConfig::new("fuzz", api, "http://127.0.0.1", "fuzzing");
    let peer = Peer { config: &config, key: None, http: &Http::default(), model: "model" };
    let pieces: Vec<_> = body.chunks(piece.max(1)).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    let events = Events::over(&peer, stream::iter(pieces));
    if api == Api::Anthropic {
        anthropic::read(&peer, events, on_event).await
    } else if api == Api::OpenaiResponses {
        responses::read(&peer, events, on_event).await
    } else {
        openai::read(&peer, events, on_event).await
    }
}
