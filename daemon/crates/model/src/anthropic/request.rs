//! The body of a request: the fields that stay the same come first, the messages last.

mod content;

use crate::{
    api::Api,
    replay,
    request::ModelRequest,
    written::{Indexed, Messages, Written},
};
use abide_protocol::{
    JsonText,
    transcript::{Block, Entry, Reply},
};
use content::{CacheControl, Content, Kind};
use serde::Serialize;

/// All but the messages.
#[derive(Serialize)]
struct Head<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[Content<'a>; 1]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
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

/// Nothing follows the messages: another `tool_choice` would make the provider's cache of the messages
/// useless, and there is no field for a schema of the reply.
#[derive(Serialize)]
struct Tail {}

/// The request as JSON.
pub(super) fn body(model: &str, request: &ModelRequest) -> serde_json::Result<Vec<u8>> {
    let entries = request.entries();
    let head = || head(model, request);
    Written::body(model, request, None, head, |from| messages(model, &entries, from), &Tail {})
}

fn head(model: &str, request: &ModelRequest) -> serde_json::Result<Vec<u8>> {
    let last_tool = request.tools.len().saturating_sub(1);
    let head = Head {
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
    };
    replay::open_list(&head, "messages")
}

/// The API requires a limit and rejects one above the model's own, so the limit is chosen by the model's
/// name.
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

/// The messages of the entries from this index on.
fn messages<'a>(model: &str, entries: &'a [Entry], from: usize) -> Messages<Message<'a>> {
    let mut all = Vec::new();
    let mut same_api = replay::last_api(&entries[..from]).is_none_or(|api| api == Api::Anthropic.name());
    for (since, entry) in entries.iter().enumerate().skip(from) {
        match entry {
            Entry::User(text) | Entry::Note(text) => push(&mut all, since, Role::User, plain(text)),
            Entry::Results(results) => {
                push(&mut all, since, Role::User, results.iter().flat_map(|result| plain(&result.text)));
            }
            Entry::Partial(text) => push(&mut all, since, Role::Assistant, plain(text)),
            Entry::Reply(reply) => {
                same_api = reply.api == Api::Anthropic.name();
                let kinds = blocks(reply, same_api && reply.model == model, same_api);
                push(&mut all, since, Role::Assistant, kinds);
            }
            Entry::Result(result) => {
                let id = replay::call_id(&result.provider_id, result.call_id, same_api);
                let kind = Kind::Result { id, text: replay::result_text(&result.text), failed: !result.ok };
                push(&mut all, since, Role::User, [kind]);
            }
        }
    }
    let settled = mark_for_cache(&mut all);
    Messages { all, settled }
}

/// The API wants user and assistant to alternate: content of one role in a row becomes one message.
fn push<'a>(
    messages: &mut Vec<Indexed<Message<'a>>>,
    since: usize,
    role: Role,
    kinds: impl IntoIterator<Item = Kind<'a>>,
) {
    let content = kinds.into_iter().map(|kind| Content { kind, cached: false });
    match messages.last_mut() {
        Some(last) if last.message.role == role => last.message.content.extend(content),
        _ => {
            let content: Vec<_> = content.collect();
            if !content.is_empty() {
                messages.push(Indexed { since, message: Message { role, content } });
            }
        }
    }
}

/// `None` for blank text, which the API rejects.
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
            // The API accepts thinking only with its signature, which is in `opaque`.
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
    // The API rejects a message of thinking alone.
    if kinds.iter().all(|kind| matches!(kind, Kind::Thinking { .. })) { Vec::new() } else { kinds }
}

/// Marks the ends of the prefixes shared with the last and with the next request. Returns how many messages
/// come before all marks, now and in every later request: the last message may grow, and the marks move.
fn mark_for_cache(messages: &mut [Indexed<Message<'_>>]) -> usize {
    let mut settled = messages.len().saturating_sub(1);
    let last =
        messages.iter_mut().enumerate().rev().filter(|(_, said)| said.message.role == Role::User).take(2);
    for (at, said) in last {
        settled = settled.min(at);
        if let Some(content) = said.message.content.last_mut() {
            content.cached = true;
        }
    }
    settled
}
