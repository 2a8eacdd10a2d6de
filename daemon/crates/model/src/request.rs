//! What is asked of a model, and what is told while it answers.

use crate::written::Written;
use abide_protocol::{
    record::Trace,
    transcript::{ToolSpec, Transcript},
};
use std::sync::Arc;

/// One request to a model.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// `provider/model`; the model's own name may have slashes.
    pub model: String,
    pub system: Arc<str>,
    pub tools: Arc<[ToolSpec]>,
    /// Oldest first. After each reply come the results of its calls, each exactly once, in call order.
    pub transcript: Transcript,
    /// One for all requests of a task: what the last one has in common with this one is not written again.
    pub written: Written,
    /// Absent: what the provider does by itself, or the most that the model gives where the api wants a number.
    pub max_output_tokens: Option<u32>,
}

/// Live output. Nothing of it counts until the reply is complete.
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
    /// The call's arguments have come to their end (they may still make no sense).
    ToolCallReady {
        index: usize,
    },
    /// The call waits for its turn; why, for the log.
    Waits(String),
    /// A part of the stream that the reply goes without: [`MAX_RAW`] bytes of it at most, and no key.
    Trace(Trace),
}

/// What is kept of a part of the stream that the reply goes without, in bytes.
pub const MAX_RAW: usize = 1024;

/// Takes live output as it comes.
pub(crate) type Sink<'a> = &'a mut (dyn FnMut(ModelEvent) + Send);
