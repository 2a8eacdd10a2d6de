//! What a provider's server is asked, whatever its API.

use crate::{
    error::ModelError,
    http::Peer,
    listing::Listed,
    request::{ModelRequest, Sink},
};
use abide_protocol::transcript::Reply;
use futures_util::future::BoxFuture;

/// A provider's implementation of its API.
pub(crate) trait Server: Send + Sync {
    /// One attempt. (Boxed, so that callers' futures do not contain the largest one.)
    fn complete<'a>(
        &'a self,
        peer: &'a Peer<'a>,
        request: &'a ModelRequest,
        sink: Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;

    /// The provider's models, by its own names.
    fn models<'a>(&'a self, peer: &'a Peer<'a>) -> BoxFuture<'a, Result<Vec<Listed>, ModelError>>;

    /// Whether the peer's model may be called, as far as is known without asking.
    fn supports(&self, peer: &Peer<'_>) -> Result<(), ModelError> {
        peer.url("", "").map(drop)
    }
}
