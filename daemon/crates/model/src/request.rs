//! A request to a model, and the events of its reply.

use crate::{replay, written::Written};
use abide_protocol::{
    CallId, ConversationId,
    record::Trace,
    shape::RequestShape,
    transcript::{Block, Entry, Reply, ToolSpec, Transcript},
};
use std::{borrow::Cow, collections::HashSet, sync::Arc};

/// One request to a model.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// `provider/model`; the model's own name may contain slashes.
    pub model: String,
    pub system: Arc<str>,
    pub tools: Arc<[ToolSpec]>,
    /// The conversation that asks, if one does.
    pub conversation: Option<ConversationId>,
    /// Oldest first. After each reply come the results of its calls, each exactly once, in call order.
    pub transcript: Transcript,
    /// Shared by all requests of a task: the part that this request has in common with the last is not
    /// serialized again.
    pub written: Written,
    /// Absent: the provider's default, or the model's maximum where the API requires a number.
    pub max_output_tokens: Option<u32>,
    /// Written after the transcript, so that no request shares it with another.
    pub shape: RequestShape,
}

impl ModelRequest {
    /// The transcript's entries as they are sent. Without tools there may be no calls: many servers refuse a
    /// request that has calls or results and declares no tool. Then the calls are left out, and their results
    /// are texts that name the tool. A call whose id an earlier call has is sent with Abide's own id, and so
    /// is its result: some servers count the calls of each reply from 0.
    pub(crate) fn entries(&self) -> Cow<'_, [Entry]> {
        let entries = self.transcript.entries();
        let calls = |entry: &Entry| match entry {
            Entry::Reply(reply) => reply.calls().next().is_some(),
            Entry::Result(_) => true,
            Entry::User(_) | Entry::Note(_) | Entry::Partial(_) | Entry::Results(_) => false,
        };
        if !entries.iter().any(calls) {
            return Cow::Borrowed(entries);
        }
        if self.tools.is_empty() {
            return entries.iter().map(without_calls).collect();
        }
        let repeated = replay::repeated_ids(entries);
        if repeated.is_empty() {
            return Cow::Borrowed(entries);
        }
        entries.iter().map(|entry| without_ids(entry, &repeated)).collect()
    }
}

/// The entry without the provider's ids of these calls.
fn without_ids(entry: &Entry, of: &HashSet<CallId>) -> Entry {
    let mut entry = entry.clone();
    match &mut entry {
        Entry::Reply(reply) if reply.calls().any(|call| of.contains(&call.id)) => {
            for block in &mut Arc::make_mut(reply).blocks {
                if let Block::Call(call) = block
                    && of.contains(&call.id)
                {
                    call.provider_id.clear();
                }
            }
        }
        Entry::Result(result) if of.contains(&result.call_id) => result.provider_id.clear(),
        _ => {}
    }
    entry
}

fn without_calls(entry: &Entry) -> Entry {
    match entry {
        Entry::Reply(reply) if reply.calls().next().is_some() => {
            let said =
                reply.blocks.iter().filter(|block| !matches!(block, Block::Call(_))).cloned().collect();
            Entry::Reply(Arc::new(Reply { blocks: replay::plain(said), ..Reply::clone(reply) }))
        }
        Entry::Result(result) => Entry::Results(vec![result.clone().named()]),
        other => other.clone(),
    }
}

/// Live output. It is void until the reply is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelEvent {
    TextDelta(String),
    ReasoningDelta(String),
    /// `index` counts the calls of this reply from 0.
    ToolCallStarted {
        index: usize,
        tool: String,
    },
    ToolCallArgsDelta {
        index: usize,
        text: String,
    },
    /// The call's arguments are complete (they may still be invalid).
    ToolCallReady {
        index: usize,
    },
    /// The call waits for a permit; the reason is for the log.
    Waits(String),
    /// A part of the stream that the reply leaves out: at most [`MAX_RAW`] bytes of it, and no key.
    Trace(Trace),
}

/// How much of such a part is kept, in bytes.
pub const MAX_RAW: usize = 1024;

/// Receives live output.
pub(crate) type Sink<'a> = &'a mut (dyn FnMut(ModelEvent) + Send);
