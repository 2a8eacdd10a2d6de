//! The body of a request: what stays the same first, the conversation last.

mod content;

use crate::{config::Api, replay, request::ModelRequest};
use abide_protocol::{
    JsonText,
    transcript::{Block, Entry, Reply},
};
use content::{CacheControl, Content, Kind};
use serde::Serialize;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[Content<'a>; 1]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Message<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a JsonText,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: Role,
    content: Vec<Content<'a>>,
}

#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Role {
    User,
    Assistant,
}

/// The request as JSON.
pub(super) fn body(model: &str, request: &ModelRequest) -> serde_json::Result<Vec<u8>> {
    let last_tool = request.tools.len().saturating_sub(1);
    let mut messages = messages(model, request);
    mark_for_cache(&mut messages);
    serde_json::to_vec(&Body {
        model,
        max_tokens: request.max_output_tokens.unwrap_or_else(|| most_output(model)),
        stream: true,
        system: (!request.system.trim().is_empty())
            .then(|| [Content { kind: Kind::Text { text: &request.system, opaque: None }, cached: true }]),
        tools: request
            .tools
            .iter()
            .enumerate()
            .map(|(at, tool)| Tool {
                name: &tool.name,
                description: &tool.description,
                input_schema: &tool.parameters,
                cache_control: (at == last_tool).then_some(CacheControl::EPHEMERAL),
            })
            .collect(),
        messages,
    })
}

/// The api wants a limit. Too high a one is an error, so: what a model of that name is known to give.
fn most_output(model: &str) -> u32 {
    if model.contains("claude-3-7") {
        32_000
    } else if model.contains("claude-3-5") {
        8_192
    } else if model.contains("claude-3-") {
        4_096
    } else if model.contains("claude") {
        32_000
    } else {
        8_192
    }
}

fn messages<'a>(model: &str, request: &'a ModelRequest) -> Vec<Message<'a>> {
    let mut messages = Vec::new();
    let mut same_api = true;
    for entry in &request.entries {
        match entry {
            Entry::User(text) | Entry::Note(text) => push(&mut messages, Role::User, plain(text)),
            Entry::Partial(text) => push(&mut messages, Role::Assistant, plain(text)),
            Entry::Reply(reply) => {
                same_api = reply.api == Api::Anthropic.name();
                push(
                    &mut messages,
                    Role::Assistant,
                    blocks(reply, same_api && reply.model == model, same_api),
                );
            }
            Entry::Result(result) => {
                let id = replay::call_id(&result.provider_id, result.call_id, same_api);
                let kind = Kind::Result { id, text: replay::result_text(&result.text), failed: !result.ok };
                push(&mut messages, Role::User, [kind]);
            }
        }
    }
    messages
}

/// The api has user and assistant take turns: what comes in a row from one of them is one message.
fn push<'a>(messages: &mut Vec<Message<'a>>, role: Role, kinds: impl IntoIterator<Item = Kind<'a>>) {
    let content = kinds.into_iter().map(|kind| Content { kind, cached: false });
    match messages.last_mut() {
        Some(last) if last.role == role => last.content.extend(content),
        _ => {
            let content: Vec<_> = content.collect();
            if !content.is_empty() {
                messages.push(Message { role, content });
            }
        }
    }
}

/// The api takes no blank text.
fn plain(text: &str) -> Option<Kind<'_>> {
    (!text.trim().is_empty()).then_some(Kind::Text { text, opaque: None })
}

fn blocks<'a>(reply: &'a Reply, native: bool, same_api: bool) -> Vec<Kind<'a>> {
    let kept = |opaque: &'a Option<JsonText>| opaque.as_ref().filter(|_| native);
    let kinds: Vec<_> = reply
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) => (!text.text.trim().is_empty())
                .then_some(Kind::Text { text: &text.text, opaque: kept(&text.opaque) }),
            // Thinking counts only with its signature, which is in `opaque`.
            Block::Reasoning(text) => {
                kept(&text.opaque).map(|opaque| Kind::Thinking { text: &text.text, opaque })
            }
            Block::Call(call) => Some(Kind::Call {
                id: replay::call_id(&call.provider_id, call.id, same_api),
                name: replay::tool_name(&call.tool),
                input: replay::arguments(&call.arguments),
                opaque: kept(&call.opaque),
            }),
        })
        .collect();
    // Thinking alone is no message.
    if kinds.iter().all(|kind| matches!(kind, Kind::Thinking { .. })) { Vec::new() } else { kinds }
}

/// Marks the end of what this request has in common with the next one, and of what it has in common with the last.
fn mark_for_cache(messages: &mut [Message<'_>]) {
    for message in messages.iter_mut().rev().filter(|m| m.role == Role::User).take(2) {
        if let Some(last) = message.content.last_mut() {
            last.cached = true;
        }
    }
}
