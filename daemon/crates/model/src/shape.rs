//! The part of a request's shape that is the same for all APIs.

use crate::request::ModelRequest;
use abide_protocol::{
    shape::ToolUse,
    transcript::{Block, Reply, StopReason, TextBlock},
};

/// The value of `tool_choice`. Absent: the default. (Providers reject the field in a request without tools.)
pub(crate) fn tool_choice(request: &ModelRequest) -> Option<&'static str> {
    let forbids = request.shape.tools == ToolUse::Forbidden && !request.tools.is_empty();
    forbids.then_some("none")
}

/// The reply to a request that forbids calls. If it has some, they are dropped, and so is the provider's own data of the other
/// blocks: some providers accept it only beside every block of the reply that it came in.
pub(crate) fn without_calls(mut reply: Reply) -> Reply {
    if reply.calls().next().is_none() {
        return reply;
    }
    let plain = |block: TextBlock| TextBlock { opaque: None, ..block };
    let kept = reply.blocks.into_iter().filter_map(|block| match block {
        Block::Text(text) => Some(Block::Text(plain(text))),
        Block::Reasoning(text) => Some(Block::Reasoning(plain(text))),
        Block::Call(_) => None,
    });
    reply.blocks = kept
        .filter(|block| !matches!(block, Block::Text(said) | Block::Reasoning(said) if said.text.is_empty()))
        .collect();
    if reply.stop_reason == StopReason::ToolCalls {
        reply.stop_reason = StopReason::EndTurn;
    }
    reply
}
