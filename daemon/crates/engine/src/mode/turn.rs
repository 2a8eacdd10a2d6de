//! A model call's place in its task's loop.

use super::rules;
use crate::{
    mint::Mint,
    mode::{reading::Reading, veil::Veil},
};
use abide_protocol::{
    CallId,
    shape::{RequestShape, ToolUse},
    task::{Mode, Phase},
    transcript::{Block, Reply, StopReason, ToolSpec},
};
use std::sync::Arc;

/// The mode and the phase of a model call. They decide the shape of its request and what is read in its reply, for all attempts alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    pub mode: Mode,
    pub phase: Option<Phase>,
    /// A question in the reply's text is asked. Otherwise it is left out.
    pub may_ask: bool,
}

impl Turn {
    /// The shape of its request, for a task with these tools; the same for all attempts.
    #[must_use]
    pub fn shape(self, tools: &[ToolSpec]) -> RequestShape {
        RequestShape {
            tools: self.tool_use(),
            output_schema: rules(self.mode).output_schema(tools).map(Arc::new),
        }
    }

    fn tool_use(self) -> ToolUse {
        rules(self.mode).tool_use(self.phase)
    }

    /// Hides the reply's control block while the reply is streamed.
    #[must_use]
    pub fn veil(self) -> Veil {
        Veil::new(self.phase.is_some_and(|phase| phase != Phase::Act))
    }

    /// Reads a reply before it is recorded: drops calls that do not count, and finds what the mode asks for in its text.
    pub fn read(self, reply: &mut Reply, mint: &mut Mint) -> Reading {
        let is_call = |block: &Block| matches!(block, Block::Call(_));
        let is_forbidden = self.tool_use() == ToolUse::Forbidden;
        if is_forbidden && reply.stop_reason == StopReason::LostCalls {
            // It was to have none.
            reply.stop_reason = StopReason::EndTurn;
        }
        // The last call of a cut reply may be incomplete, and all are dropped. In a phase without tools no call was asked for.
        let is_cut =
            matches!(reply.stop_reason, StopReason::Length | StopReason::Unfinished | StopReason::LostCalls);
        if is_cut || is_forbidden {
            reply.blocks.retain(|block| !is_call(block));
        }
        let mut reading = rules(self.mode).read(self, reply);
        for call in &mut reading.calls {
            call.id = CallId(mint.uuid());
        }
        reading
    }
}
