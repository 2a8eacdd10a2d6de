//! Reads a reply to its end, in the same way for every API.

use crate::{assembly::Fault, error::ModelError, http::Peer, patience::Stage, sse::Events};
use abide_protocol::transcript::Reply;

/// Assembles a reply from an API's events.
pub(crate) trait Decode {
    /// Adds an event to the reply, or leaves it out if it makes no sense.
    fn event(&mut self, data: &str) -> Result<(), Fault>;

    /// How many pieces of content have come: text, reasoning, signatures, calls, arguments, counts of tokens.
    fn heard(&self) -> usize;

    /// The stop reason has come: only usage may follow, and the end of the stream may be missing.
    fn is_finished(&self) -> bool;

    /// The last event has come.
    fn is_over(&self) -> bool;

    /// The reply, once the stream has ended properly.
    fn finish(self, model: &str) -> Result<Reply, Fault>;
}

/// The reply assembled from the events.
pub(crate) async fn read(
    peer: &Peer<'_>,
    mut events: Events<'_>,
    mut reply: impl Decode,
) -> Result<Reply, ModelError> {
    let mut stage = Stage::Waiting;
    let mut heard = reply.heard();
    loop {
        match events.next().await {
            Ok(Some(data)) => reply.event(&data).map_err(|fault| peer.fault(fault))?,
            Ok(None) | Err(_) if reply.is_finished() => break,
            // A document needs no stop reason to be whole.
            Ok(None) if events.is_document() && heard > 0 => break,
            Ok(None) => return Err(events.ended_early()),
            Err(error) => return Err(error),
        }
        if reply.is_over() {
            events.drain().await;
            break;
        }
        let now = match (reply.is_finished(), reply.heard()) {
            (true, _) => Stage::Finished,
            (false, 0) => Stage::Waiting,
            (false, _) => Stage::Begun,
        };
        // Some servers send a stop reason with each piece, so content extends the wait after it too.
        if now != stage || reply.heard() > heard {
            events.patience.enter(now);
        }
        (stage, heard) = (now, reply.heard());
    }
    reply.finish(peer.model).map_err(|fault| peer.fault(fault))
}
