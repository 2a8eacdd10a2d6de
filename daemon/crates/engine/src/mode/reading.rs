//! What a mode reads in the text of a model's reply: a control block, the text that people see, and calls.
//!
//! A reply is read once, before it is recorded, and what was read is recorded with it. A model may write
//! anything: a field of the wrong type takes its default, and a text without a block is free text.

use super::control::ASK_USER;
use abide_protocol::{CallId, record::ControlBlock, transcript::CallBlock};
use uuid::Uuid;

/// What was read in a reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    pub control: Option<ControlBlock>,
    /// The text that people see; `None`: the reply's own.
    pub text: Option<String>,
    pub calls: Vec<CallBlock>,
}

impl Reading {
    pub(super) const NOTHING: Self = Self { control: None, text: None, calls: Vec::new() };
}

/// A question in a reply's text, as a call.
pub(super) fn ask(question: &str) -> CallBlock {
    call(ASK_USER, serde_json::json!({ "question": question }).to_string())
}

/// A call in a reply's text. Its id is given by [`crate::Turn::read`].
pub(super) fn call(tool: &str, arguments: String) -> CallBlock {
    CallBlock {
        id: CallId(Uuid::nil()),
        provider_id: String::new(),
        tool: tool.to_owned(),
        arguments,
        opaque: None,
    }
}
