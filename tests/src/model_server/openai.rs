//! OpenAI Chat Completions, streamed.

use super::{
    MODEL,
    frames::{Frame, Odd, pieces_of},
    script::{Piece, Turn},
    view::{Item, ItemKind, Part, View, blocks},
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use std::collections::BTreeMap;

pub(super) const ODD: Odd = Odd {
    reported: "data: {\"error\":{\"message\":\"The engine is overloaded\",\"type\":\"server_error\",\"code\":503}}\n\n",
    failed: "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"error\"}]}\n\n",
};

/// The fields that may differ between requests of a conversation: the shape of the reply.
const SHAPE: [&str; 2] = ["tool_choice", "response_format"];

#[derive(Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    tool_calls: Vec<Call>,
    tool_call_id: Option<String>,
}

#[derive(Deserialize)]
struct Call {
    id: String,
    r#type: String,
    function: Function,
    extra_content: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    arguments: String,
}

/// Reads a request; the error says what is wrong with it.
pub(super) fn read(body: &str) -> Result<View, String> {
    let mut fields: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(body).map_err(|e| format!("the body is no JSON object: {e}"))?;
    let messages = fields.remove("messages").ok_or("there are no `messages`")?;
    if fields.get("stream").map(|s| s.get()) != Some("true") {
        return Err("`stream` is not true".to_owned());
    }
    let raw: Vec<Box<RawValue>> =
        serde_json::from_str(messages.get()).map_err(|e| format!("`messages` is no list: {e}"))?;
    if fields.contains_key("tool_choice") && !fields.contains_key("tools") {
        return Err("`tool_choice` without `tools`".to_owned());
    }
    let mut view = View::of_tools(fields.get("tools").map(|tools| &**tools));
    for (name, value) in fields.iter().filter(|(name, _)| !SHAPE.contains(&name.as_str())) {
        view.head.push_str(&format!("{name}: {value}\n"));
    }
    for (at, raw) in raw.iter().enumerate() {
        let message: Message =
            serde_json::from_str(raw.get()).map_err(|e| format!("message {at} is not one: {e}"))?;
        if message.role == "system" && at == 0 {
            view.head.push_str(raw.get());
            continue;
        }
        let kind = item(message).map_err(|e| format!("message {at}: {e}"))?;
        let is_reply = |kind: &ItemKind| matches!(kind, ItemKind::Reply(_));
        if is_reply(&kind) && view.items.last().is_some_and(|last| is_reply(&last.kind)) {
            return Err(format!("message {at} is the assistant's, as the one before it"));
        }
        view.items.push(Item { raw: raw.get().to_owned(), kind });
    }
    Ok(view)
}

fn item(message: Message) -> Result<ItemKind, String> {
    match message.role.as_str() {
        "user" => Ok(ItemKind::User(text(&message.content)?)),
        "tool" => {
            text(&message.content)?;
            let id = message.tool_call_id.ok_or("a tool message without `tool_call_id`")?;
            Ok(ItemKind::Result { id })
        }
        "assistant" => {
            let text = text(&message.content)?;
            let mut parts: Vec<Part> = (!text.is_empty()).then_some(Part::Text(text)).into_iter().collect();
            for call in message.tool_calls {
                if call.r#type != "function" {
                    return Err(format!("a call of type {:?}", call.r#type));
                }
                let extra = call.extra_content.map(|raw| raw.get().to_owned());
                let Function { name: tool, arguments } = call.function;
                parts.push(Part::Call { id: call.id, tool, arguments, extra });
            }
            if parts.is_empty() {
                return Err("an assistant message with neither content nor calls".to_owned());
            }
            Ok(ItemKind::Reply(parts))
        }
        other => Err(format!("the role {other:?} is not allowed here")),
    }
}

fn text(content: &Value) -> Result<String, String> {
    match content {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(parts) => parts
            .iter()
            .map(|p| p["text"].as_str().ok_or_else(|| format!("a part of content that is no text: {p}")))
            .collect(),
        other => Err(format!("content is neither text nor parts: {other}")),
    }
}

/// The parts of a reply, in the form in which they must come back. All text is one part; reasoning does not
/// come back.
pub(super) fn parts(turn: &Turn, id: &str) -> Vec<Part> {
    let blocks = blocks(&turn.pieces);
    let text: String =
        blocks.iter().filter_map(|b| if let Piece::Text(t) = b { Some(t.as_str()) } else { None }).collect();
    let calls = calls(&blocks).enumerate().map(|(at, (tool, arguments))| Part::Call {
        id: call_id(id, at),
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
        extra: (!turn.manner.is_plain).then(|| extra(id, at)),
    });
    (!text.is_empty()).then_some(Part::Text(text)).into_iter().chain(calls).collect()
}

fn calls(blocks: &[Piece]) -> impl Iterator<Item = (&str, &str)> {
    blocks.iter().filter_map(|b| {
        if let Piece::Call { tool, arguments } = b { Some((tool.as_str(), arguments.as_str())) } else { None }
    })
}

fn call_id(id: &str, at: usize) -> String {
    format!("call_{id}_{at}")
}

/// In an order that no JSON library would choose, and with an extra space, to check that it comes back
/// verbatim.
fn extra(id: &str, at: usize) -> String {
    format!(r#"{{"google":{{"thought_signature":"sig/{id}/{at}+=="}}, "a":[1.50,"é"]}}"#)
}

/// The stream of a reply.
pub(super) fn frames(turn: &Turn, id: &str, wants_usage: bool) -> Vec<Frame> {
    let mut frames = vec![delta(id, &json!({ "role": "assistant", "content": "" }))];
    let mut number = 0;
    for piece in &turn.pieces {
        match piece {
            Piece::Text(text) => frames.push(delta(id, &json!({ "content": text }))),
            Piece::Reasoning(text) => frames.push(delta(id, &json!({ "reasoning_content": text }))),
            Piece::Redacted => {}
            Piece::Gate(gate) => frames.push(Frame::Gate(gate.clone())),
            Piece::Call { tool, arguments } => {
                let extra = (!turn.manner.is_plain).then(|| extra(id, number));
                frames.push(call_head(id, number, tool, extra));
                frames.extend(call_arguments(id, number, arguments));
                number += 1;
            }
        }
    }
    let reason = if number == 0 { "stop" } else { "tool_calls" };
    frames.push(chunk(id, &json!([{ "index": 0, "delta": {}, "finish_reason": reason }]), None));
    if wants_usage {
        let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110,
            "prompt_tokens_details": { "cached_tokens": 40 } });
        frames.push(chunk(id, &json!([]), Some(usage)));
    }
    frames.push(Frame::event("data: [DONE]\n\n".to_owned()));
    frames
}

/// Not written by a JSON library, which would change `extra`.
fn call_head(id: &str, at: usize, tool: &str, extra: Option<String>) -> Frame {
    let extra = extra.map(|extra| format!(r#","extra_content":{extra}"#)).unwrap_or_default();
    let head = format!(
        r#"{{"tool_calls":[{{"index":{at},"id":"{}","type":"function","function":{{"name":"{tool}","arguments":""}}{extra}}}]}}"#,
        call_id(id, at),
    );
    raw_delta(id, &head)
}

fn call_arguments(id: &str, at: usize, arguments: &str) -> Vec<Frame> {
    let delta_of =
        |piece| delta(id, &json!({ "tool_calls": [{ "index": at, "function": { "arguments": piece } }] }));
    pieces_of(arguments).into_iter().map(delta_of).collect()
}

fn delta(id: &str, delta: &Value) -> Frame {
    raw_delta(id, &delta.to_string())
}

fn raw_delta(id: &str, delta: &str) -> Frame {
    Frame::event(format!(
        "data: {{\"id\":\"chatcmpl-{id}\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"{MODEL}\",\
         \"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":null}}]}}\n\n"
    ))
}

fn chunk(id: &str, choices: &Value, usage: Option<Value>) -> Frame {
    let mut body = json!({ "id": format!("chatcmpl-{id}"), "object": "chat.completion.chunk", "created": 1, "model": MODEL,
        "choices": choices });
    if let Some(usage) = usage {
        body["usage"] = usage;
    }
    Frame::event(format!("data: {body}\n\n"))
}

/// The body of an error response.
pub(super) fn error(code: u16, words: &str) -> String {
    let kind = match code {
        400 => "invalid_request_error",
        401 => "authentication_error",
        429 => "rate_limit_exceeded",
        _ => "server_error",
    };
    json!({ "error": { "message": words, "type": kind, "param": null, "code": kind } }).to_string()
}
