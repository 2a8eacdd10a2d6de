//! A model call's place in its task's loop.

use super::{block_filter::BlockFilter, control::ASK_USER, reading::Reading, rules::Table, task_mode};
use crate::mint::Mint;
use abide_protocol::{
    CallId,
    shape::{RequestShape, ToolUse},
    task::{Mode, Phase},
    transcript::{Block, Reply, StopReason, ToolSpec},
};
use std::sync::Arc;

/// The mode and the phase of a model call. They decide the shape of its request and what is read in its
/// reply, for all attempts alike.
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
        let shape = (self.table().shape)(self.phase);
        RequestShape { tools: shape.tools, output_schema: shape.schema.map(|schema| Arc::new(schema(tools))) }
    }

    fn table(self) -> &'static Table {
        task_mode::table(self.mode)
    }

    /// Hides the reply's control block while the reply is streamed.
    #[must_use]
    pub fn block_filter(self) -> BlockFilter {
        BlockFilter::new(self.phase.is_some_and(|phase| phase != Phase::Act))
    }

    /// Reads a reply before it is recorded: drops calls that do not count, and finds what the mode asks for
    /// in its text.
    pub fn read(self, reply: &mut Reply, mint: &mut Mint) -> Reading {
        let is_call = |block: &Block| matches!(block, Block::Call(_));
        let is_forbidden = (self.table().shape)(self.phase).tools == ToolUse::Forbidden;
        if is_forbidden && reply.stop_reason == StopReason::LostCalls {
            // It was to have none.
            reply.stop_reason = StopReason::EndTurn;
        }
        // The last call of a cut reply may be incomplete, and all are dropped. In a phase without tools no
        // call was asked for.
        let is_cut =
            matches!(reply.stop_reason, StopReason::Length | StopReason::Unfinished | StopReason::LostCalls);
        if is_cut || is_forbidden {
            reply.blocks.retain(|block| !is_call(block));
        }
        let mut reading = (self.table().read)(self.phase, reply);
        if !self.may_ask {
            reading.calls.retain(|call| call.tool != ASK_USER);
        }
        for call in &mut reading.calls {
            call.id = CallId(mint.uuid());
        }
        reading
    }
}
