//! The part of a request's shape that is the same for all APIs.

use crate::{replay, request::ModelRequest};
use abide_protocol::{
    shape::ToolUse,
    transcript::{Block, Reply, StopReason},
};

/// The value of `tool_choice`. Absent: the default. (Providers reject the field in a request without tools.)
pub(crate) fn tool_choice(request: &ModelRequest) -> Option<&'static str> {
    let forbids = request.shape.tools == ToolUse::Forbidden && !request.tools.is_empty();
    forbids.then_some("none")
}

/// The reply to a request that forbids calls. If it has some, they are dropped, and the rest is no whole
/// reply any more.
pub(crate) fn without_calls(mut reply: Reply) -> Reply {
    if reply.calls().next().is_none() {
        return reply;
    }
    reply.blocks.retain(|block| !matches!(block, Block::Call(_)));
    reply.blocks = replay::plain(reply.blocks);
    if matches!(reply.stop_reason, StopReason::ToolCalls | StopReason::LostCalls) {
        reply.stop_reason = StopReason::EndTurn;
    }
    reply
}
