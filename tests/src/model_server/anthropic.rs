//! Anthropic Messages, streamed.

use super::{
    MODEL,
    frames::{Frame, Odd, pieces_of},
    script::{Piece, Turn},
    view::{Item, ItemKind, Part, View, blocks},
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use std::collections::BTreeMap;

const OVERLOADED: &str = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";

pub(super) const ODD: Odd = Odd { reported: OVERLOADED, failed: OVERLOADED };

#[derive(Deserialize)]
struct Message<'a> {
    role: String,
    #[serde(borrow)]
    content: &'a RawValue,
}

/// Reads a request; the error says what is wrong with it.
pub(super) fn read(body: &str) -> Result<View, String> {
    let mut fields: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(body).map_err(|e| format!("the body is no JSON object: {e}"))?;
    let messages = fields.remove("messages").ok_or("there are no `messages`")?;
    if fields.get("stream").map(|s| s.get()) != Some("true") {
        return Err("`stream` is not true".to_owned());
    }
    if !fields.contains_key("max_tokens") {
        return Err("there is no `max_tokens`".to_owned());
    }
    let messages: Vec<Message<'_>> = serde_json::from_str(messages.get())
        .map_err(|e| format!("`messages` is no list of messages: {e}"))?;
    let mut view = View::of_tools(fields.get("tools").map(|tools| &**tools));
    for (name, value) in &fields {
        view.head.push_str(&format!("{name}: {}\n", without_cache_control(value.get())));
    }
    let mut role_before = String::new();
    for (at, message) in messages.iter().enumerate() {
        if message.role == role_before {
            return Err(format!("message {at} has the same role as the one before it"));
        }
        role_before.clone_from(&message.role);
        let blocks = blocks_of(message.content).map_err(|e| format!("message {at}: {e}"))?;
        let items = match message.role.as_str() {
            "user" => user(&blocks),
            "assistant" => reply(&blocks).map(|item| vec![item]),
            other => Err(format!("the role {other:?} is not allowed")),
        };
        view.items.extend(items.map_err(|e| format!("message {at}: {e}"))?);
    }
    Ok(view)
}

/// The blocks as in the request, without the cache marks, which move.
fn blocks_of(content: &RawValue) -> Result<Vec<String>, String> {
    let content = content.get();
    if content.starts_with('"') {
        return Ok(vec![format!(r#"{{"type":"text","text":{content}}}"#)]);
    }
    let blocks: Vec<&RawValue> =
        serde_json::from_str(content).map_err(|e| format!("content is neither text nor blocks: {e}"))?;
    if blocks.is_empty() {
        return Err("a message without content".to_owned());
    }
    Ok(blocks.iter().map(|b| without_cache_control(b.get())).collect())
}

fn without_cache_control(raw: &str) -> String {
    let mark = r#""cache_control":{"type":"ephemeral"}"#;
    raw.replace(&format!(",{mark}"), "").replace(&format!("{mark},"), "")
}

fn user(blocks: &[String]) -> Result<Vec<Item>, String> {
    let mut items = Vec::new();
    let mut text_seen = false;
    for raw in blocks {
        let block: Value = serde_json::from_str(raw).map_err(|e| e.to_string())?;
        let kind = match block["type"].as_str() {
            Some("text") => {
                text_seen = true;
                let text = block["text"].as_str().unwrap_or_default();
                if text.is_empty() {
                    return Err("an empty text block".to_owned());
                }
                ItemKind::User(text.to_owned())
            }
            Some("tool_result") if text_seen => return Err("a tool_result after text".to_owned()),
            Some("tool_result") => {
                ItemKind::Result { id: block["tool_use_id"].as_str().unwrap_or_default().to_owned() }
            }
            other => return Err(format!("a block of type {other:?} from the user")),
        };
        items.push(Item { raw: format!("user {raw}"), kind });
    }
    Ok(items)
}

fn reply(blocks: &[String]) -> Result<Item, String> {
    let mut parts = Vec::new();
    for raw in blocks {
        let block: Value = serde_json::from_str(raw).map_err(|e| e.to_string())?;
        let field = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
        parts.push(match field("type").as_str() {
            "text" if field("text").trim().is_empty() => return Err("an empty text block".to_owned()),
            "text" => Part::Text(field("text")),
            "thinking" => Part::Opaque(thinking(&field("thinking"), &field("signature"))),
            "redacted_thinking" => Part::Opaque(field("data")),
            "tool_use" => {
                if !block["input"].is_object() {
                    return Err(format!("a tool_use whose input is no object: {raw}"));
                }
                Part::Call {
                    id: field("id"),
                    tool: field("name"),
                    arguments: block["input"].to_string(),
                    extra: None,
                }
            }
            other => return Err(format!("a block of type {other:?} from the assistant")),
        });
    }
    Ok(Item { raw: format!("assistant {}", blocks.join(",")), kind: ItemKind::Reply(parts) })
}

fn thinking(text: &str, signature: &str) -> String {
    format!("{text}\u{1}{signature}")
}

fn signature(id: &str, at: usize) -> String {
    format!("sig/{id}/{at}+==")
}

fn redacted(id: &str, at: usize) -> String {
    format!("redacted/{id}/{at}+==")
}

/// The parts of a reply, in the form in which they must come back.
pub(super) fn parts(turn: &Turn, id: &str) -> Vec<Part> {
    let parts = blocks(&turn.pieces).into_iter().enumerate().map(|(at, block)| match block {
        Piece::Text(text) => Part::Text(text),
        Piece::Reasoning(text) => Part::Opaque(thinking(&text, &signature(id, at))),
        Piece::Redacted | Piece::Gate(_) => Part::Opaque(redacted(id, at)),
        Piece::Call { tool, arguments } => Part::Call { id: call_id(id, at), tool, arguments, extra: None },
    });
    parts.collect()
}

fn call_id(id: &str, at: usize) -> String {
    format!("toolu_{id}_{at}")
}

/// The stream of a reply.
pub(super) fn frames(turn: &Turn, id: &str) -> Vec<Frame> {
    let message = json!({ "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": MODEL, "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 60, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 0, "output_tokens": 1 } });
    let mut frames = vec![
        event(&json!({ "type": "message_start", "message": message })),
        event(&json!({ "type": "ping" })),
    ];
    let mut open = Open::default();
    let has_calls = turn.pieces.iter().any(|p| matches!(p, Piece::Call { .. }));
    for piece in &turn.pieces {
        match piece {
            Piece::Gate(gate) => frames.push(Frame::Gate(gate.clone())),
            Piece::Text(text) => {
                open.enter(Kind::Text, &json!({ "type": "text", "text": "" }), id, &mut frames);
                frames.push(delta(open.at, &json!({ "type": "text_delta", "text": text })));
            }
            Piece::Reasoning(text) => {
                let start = json!({ "type": "thinking", "thinking": "", "signature": "" });
                open.enter(Kind::Thinking, &start, id, &mut frames);
                frames.push(delta(open.at, &json!({ "type": "thinking_delta", "thinking": text })));
            }
            Piece::Redacted => {
                open.leave(id, &mut frames);
                let block = json!({ "type": "redacted_thinking", "data": redacted(id, open.next) });
                open.enter(Kind::Other, &block, id, &mut frames);
                open.leave(id, &mut frames);
            }
            Piece::Call { tool, arguments } => {
                open.leave(id, &mut frames);
                frames.extend(call(id, open.next, tool, arguments));
                open.next += 1;
            }
        }
    }
    open.leave(id, &mut frames);
    let reason = if has_calls { "tool_use" } else { "end_turn" };
    let end = json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null },
        "usage": { "output_tokens": 10 } });
    frames.extend([event(&end), event(&json!({ "type": "message_stop" }))]);
    frames
}

fn call(id: &str, at: usize, tool: &str, arguments: &str) -> Vec<Frame> {
    let block = json!({ "type": "tool_use", "id": call_id(id, at), "name": tool, "input": {} });
    let start = event(&json!({ "type": "content_block_start", "index": at, "content_block": block }));
    let pieces = pieces_of(arguments);
    let deltas = pieces.iter().map(|p| delta(at, &json!({ "type": "input_json_delta", "partial_json": p })));
    let stop = event(&json!({ "type": "content_block_stop", "index": at }));
    std::iter::once(start).chain(deltas).chain([stop]).collect()
}

/// The block that is being written.
#[derive(Default)]
struct Open {
    kind: Option<Kind>,
    at: usize,
    next: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    Other,
}

impl Open {
    fn enter(&mut self, kind: Kind, start: &Value, id: &str, frames: &mut Vec<Frame>) {
        if self.kind == Some(kind) {
            return;
        }
        self.leave(id, frames);
        self.kind = Some(kind);
        self.at = self.next;
        self.next += 1;
        frames
            .push(event(&json!({ "type": "content_block_start", "index": self.at, "content_block": start })));
    }

    fn leave(&mut self, id: &str, frames: &mut Vec<Frame>) {
        let Some(kind) = self.kind.take() else { return };
        if kind == Kind::Thinking {
            let signature = signature(id, self.at);
            frames.push(delta(self.at, &json!({ "type": "signature_delta", "signature": signature })));
        }
        frames.push(event(&json!({ "type": "content_block_stop", "index": self.at })));
    }
}

fn delta(at: usize, delta: &Value) -> Frame {
    event(&json!({ "type": "content_block_delta", "index": at, "delta": delta }))
}

fn event(body: &Value) -> Frame {
    let name = body["type"].as_str().unwrap_or_default();
    Frame::event(format!("event: {name}\ndata: {body}\n\n"))
}

/// The body of an error response.
pub(super) fn error(code: u16, words: &str) -> String {
    let kind = match code {
        400 => "invalid_request_error",
        401 => "authentication_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({ "type": "error", "error": { "type": kind, "message": words } }).to_string()
}
