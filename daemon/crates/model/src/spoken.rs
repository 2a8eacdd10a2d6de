//! Reads what a server has left in the text of a reply: reasoning between tags, and calls that are written as
//! text.
//!
//! A server whose parser fits its model sends both apart from the text. Many do not, for one model or
//! another. Here it is read for all APIs, once, when the reply is whole. A text is untrusted: the model may
//! quote a file. So a call counts only
//!
//! * where the request allows calls, asks for no other form of the text, and the reply has no call of its
//!   own;
//! * if it is written with a model's own tags and nothing comes after it, or if it is JSON and the whole
//!   text;
//! * if all calls of the text can be read, and each names a tool of the request.
//!
//! Such a call is like any other from there on. A text that holds markup of calls and is not read so ends as
//! [`StopReason::LostCalls`].

mod bare;
mod cursor;
mod form;
mod live;
mod marker;
mod object;
mod python;
mod thought;

pub(crate) use live::Live;

use crate::{
    api::Api,
    replay,
    request::{ModelEvent, ModelRequest, Sink},
};
use abide_protocol::{
    CallId,
    record::Trace,
    shape::ToolUse,
    spelling,
    transcript::{Block, CallBlock, Reply, StopReason, TextBlock, ToolSpec},
};
use form::Form;
use uuid::Uuid;

/// A call as it is written in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Spoken {
    name: String,
    /// JSON.
    arguments: String,
}

/// The reply with its reasoning and its calls taken out of its text. What is taken out for calls is reported
/// as a trace.
pub(crate) fn read(mut reply: Reply, request: &ModelRequest, sink: Sink<'_>) -> Reply {
    let has_reasoned = take_reasoning(&mut reply);
    let found = if may_speak(&reply, request) { find(&reply, &request.tools) } else { Found::Nothing };
    let has_spoken = matches!(found, Found::Calls { .. });
    match found {
        Found::Calls { at, said, written, calls } => {
            sink(ModelEvent::Trace(Trace { what: "calls written as text".to_owned(), raw: written }));
            if let Some(Block::Text(block) | Block::Reasoning(block)) = reply.blocks.get_mut(at) {
                block.text = said;
            }
            reply.blocks.extend(calls.into_iter().map(Block::Call));
            reply.stop_reason = StopReason::ToolCalls;
        }
        Found::Markup if request.shape.tools == ToolUse::Allowed => reply.stop_reason = StopReason::LostCalls,
        Found::Markup | Found::Nothing => {}
    }
    if has_reasoned || has_spoken {
        // A signature holds for the reply as it came. The fields of chat completions each stand for
        // themselves.
        if reply.api != Api::OpenaiChat.name() {
            reply.blocks = replay::plain(reply.blocks);
        }
        reply.blocks.retain(|block| {
            !matches!(block, Block::Text(said) | Block::Reasoning(said) if said.text.is_empty() && said.opaque.is_none())
        });
    }
    reply
}

/// Makes a block of the reasoning in each text. Whether there was any.
fn take_reasoning(reply: &mut Reply) -> bool {
    let mut found = false;
    let blocks = std::mem::take(&mut reply.blocks);
    for block in blocks {
        match block {
            Block::Text(said) => match thought::split(&said.text) {
                Some(split) => {
                    found = true;
                    if !split.reasoning.is_empty() {
                        reply
                            .blocks
                            .push(Block::Reasoning(TextBlock { text: split.reasoning, opaque: None }));
                    }
                    reply.blocks.push(Block::Text(TextBlock { text: split.answer, ..said }));
                }
                None => reply.blocks.push(Block::Text(said)),
            },
            other => reply.blocks.push(other),
        }
    }
    found
}

/// Whether calls in the reply's text are looked for.
fn may_speak(reply: &Reply, request: &ModelRequest) -> bool {
    let has_ended =
        matches!(reply.stop_reason, StopReason::EndTurn | StopReason::ToolCalls | StopReason::LostCalls);
    has_ended
        && !request.tools.is_empty()
        && request.shape.output_schema.is_none()
        && reply.calls().next().is_none()
}

enum Found {
    Nothing,
    /// Markup of calls that does not count.
    Markup,
    Calls {
        /// The block that they are in.
        at: usize,
        /// What the block says before them.
        said: String,
        written: String,
        calls: Vec<CallBlock>,
    },
}

/// Looks at the last text. If the reply has reasoning alone, a server may have taken the calls for a part of
/// it.
fn find(reply: &Reply, tools: &[ToolSpec]) -> Found {
    let said = |is_of_kind: fn(&Block) -> Option<&TextBlock>| -> Vec<(usize, &str)> {
        let texts = reply
            .blocks
            .iter()
            .enumerate()
            .filter_map(|(at, block)| Some((at, is_of_kind(block)?.text.as_str())));
        texts.filter(|(_, text)| !text.trim().is_empty()).collect()
    };
    let mut texts = said(|block| if let Block::Text(said) = block { Some(said) } else { None });
    if texts.is_empty() {
        texts = said(|block| if let Block::Reasoning(said) = block { Some(said) } else { None });
    }
    let is_only = texts.len() == 1;
    let Some((at, text)) = texts.pop() else { return Found::Nothing };
    match form::read(text, tools) {
        Form::Calls { before, calls }
            if is_only || !before.trim().is_empty() || !marker::all(text).is_empty() =>
        {
            let block = |call: &Spoken| {
                let tool = spelling::tool(tools, &call.name)?;
                Some(CallBlock {
                    id: CallId(Uuid::nil()),
                    provider_id: String::new(),
                    tool: tool.name.clone(),
                    arguments: call.arguments.clone(),
                    opaque: None,
                })
            };
            match calls.iter().map(block).collect::<Option<Vec<_>>>() {
                Some(calls) => Found::Calls {
                    at,
                    said: before.trim_end().to_owned(),
                    written: text[before.len()..].to_owned(),
                    calls,
                },
                None => Found::Markup,
            }
        }
        Form::Calls { .. } | Form::Markup => Found::Markup,
        Form::Answer => Found::Nothing,
    }
}
