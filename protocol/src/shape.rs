//! The shape of a model request: which form its reply may take. It depends on the phase that asks.
//!
//! The engine decides it and the model crate carries it out. It is never on the wire nor in a record: the
//! same phase of the same task always has the same shape.

use crate::JsonText;
use std::sync::Arc;

/// What a request allows in its reply. It follows the transcript, so it changes no byte of what requests
/// share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestShape {
    pub tools: ToolUse,
    /// The reply's text should be JSON of this schema. A provider that cannot enforce one is sent none: the
    /// prompt must ask for it too.
    pub output_schema: Option<Arc<OutputSchema>>,
}

/// Whether a reply may contain calls. The tools are declared either way: they are in the part that requests
/// share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolUse {
    #[default]
    Allowed,
    /// A call in the reply is dropped.
    Forbidden,
}

/// The JSON Schema of a reply's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputSchema {
    /// A provider's name for it: at most 64 letters, digits, underscores and dashes.
    pub name: String,
    pub schema: JsonText,
}
