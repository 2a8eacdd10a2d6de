//! OpenAI Responses, streamed.

use super::{
    MODEL,
    frames::{Frame, Odd, pieces_of},
    script::{Piece, Turn},
    view::{Item, ItemKind, Part, View, blocks},
};
use serde_json::{Value, json, value::RawValue};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const ODD: Odd = Odd {
    reported: "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"The engine is overloaded\",\"param\":null}\n\n",
    failed: "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"The engine is overloaded\"}}}\n\n",
};

/// The fields that may differ between requests of a conversation: the shape of the reply.
const SHAPE: [&str; 2] = ["tool_choice", "text"];

type Fields = BTreeMap<String, Box<RawValue>>;

/// Reads a request; the error says what is wrong with it.
pub(super) fn read(body: &str) -> Result<View, String> {
    let mut fields: Fields =
        serde_json::from_str(body).map_err(|e| format!("the body is no JSON object: {e}"))?;
    let input = fields.remove("input").ok_or("there is no `input`")?;
    let raw = |name: &str| fields.get(name).map_or("", |value| value.get());
    for (name, expected) in
        [("stream", "true"), ("store", "false"), ("include", r#"["reasoning.encrypted_content"]"#)]
    {
        if raw(name) != expected {
            return Err(format!("`{name}` is not {expected}"));
        }
    }
    if raw("prompt_cache_key").len() < 3 {
        return Err("there is no `prompt_cache_key`".to_owned());
    }
    match fields.get("tools") {
        Some(tools) => check_tools(tools)?,
        None if fields.contains_key("tool_choice") => {
            return Err("`tool_choice` without `tools`".to_owned());
        }
        None => {}
    }
    let mut view = View::of_tools(fields.get("tools").map(|tools| &**tools));
    for (name, value) in fields.iter().filter(|(name, _)| !SHAPE.contains(&name.as_str())) {
        view.head.push_str(&format!("{name}: {value}\n"));
    }
    let input: Vec<Box<RawValue>> =
        serde_json::from_str(input.get()).map_err(|e| format!("`input` is no list: {e}"))?;
    let mut ids = BTreeSet::new();
    for (at, raw) in input.iter().enumerate() {
        let fields: Fields = serde_json::from_str(raw.get()).map_err(|e| format!("input {at}: {e}"))?;
        if let Some(id) = fields.get("id")
            && !ids.insert(id.get().to_owned())
        {
            return Err(format!("input {at}: an item with the id {id} came before"));
        }
        let kind = item(raw.get(), &fields).map_err(|e| format!("input {at}: {e}"))?;
        push(&mut view.items, raw.get(), kind);
    }
    view.items.iter().try_for_each(reasoning_is_followed)?;
    Ok(view)
}

/// Tools are flat, and not strict.
fn check_tools(tools: &RawValue) -> Result<(), String> {
    let tools: Vec<Value> =
        serde_json::from_str(tools.get()).map_err(|e| format!("`tools` is no list: {e}"))?;
    for tool in &tools {
        let is_flat =
            tool["type"] == "function" && tool["name"].is_string() && tool["parameters"].is_object();
        if !is_flat || tool["strict"] != false {
            return Err(format!("a tool that is not flat, or strict: {tool}"));
        }
    }
    Ok(())
}

fn item(raw: &str, fields: &Fields) -> Result<ItemKind, String> {
    let item: Value = serde_json::from_str(raw).map_err(|e| e.to_string())?;
    let field = |name: &str| {
        item[name].as_str().map(str::to_owned).ok_or_else(|| format!("an item without `{name}`: {raw}"))
    };
    match field("type")?.as_str() {
        "message" if item["role"] == "user" => Ok(ItemKind::User(text(&item, "input_text")?)),
        "message" if item["role"] == "assistant" => {
            let text = text(&item, "output_text")?;
            let part = match fields.get("id") {
                Some(_) => Part::Whole { text, raw: raw.to_owned() },
                None => Part::Text(text),
            };
            Ok(ItemKind::Reply(vec![part]))
        }
        "reasoning" => {
            // Nothing is stored, so it could not be found by its id.
            field("encrypted_content")?;
            Ok(ItemKind::Reply(vec![Part::Opaque(raw.to_owned())]))
        }
        "function_call" => {
            let arguments = fields.get("arguments").map_or("", |value| value.get());
            let part = Part::Call {
                id: field("call_id")?,
                tool: field("name")?,
                arguments: field("arguments")?,
                extra: Some(raw.replacen(arguments, "", 1)),
            };
            Ok(ItemKind::Reply(vec![part]))
        }
        "function_call_output" => {
            field("output")?;
            Ok(ItemKind::Result { id: field("call_id")? })
        }
        other => Err(format!("an item of type {other:?}")),
    }
}

fn text(item: &Value, kind: &str) -> Result<String, String> {
    let parts = item["content"].as_array().ok_or_else(|| format!("content that is no list: {item}"))?;
    let text_of = |part: &Value| match part["type"].as_str() {
        Some("refusal") if kind == "output_text" => part["refusal"].as_str().map(str::to_owned),
        Some(of) if of == kind => part["text"].as_str().map(str::to_owned),
        _ => None,
    };
    parts.iter().map(|part| text_of(part).ok_or_else(|| format!("not a part of {kind}: {part}"))).collect()
}

/// Items of the model in a row are one reply.
fn push(items: &mut Vec<Item>, raw: &str, kind: ItemKind) {
    if let (Some(Item { raw: before, kind: ItemKind::Reply(parts) }), ItemKind::Reply(more)) =
        (items.last_mut(), &kind)
    {
        before.push_str(raw);
        parts.extend(more.iter().cloned());
        return;
    }
    items.push(Item { raw: raw.to_owned(), kind });
}

fn reasoning_is_followed(item: &Item) -> Result<(), String> {
    match &item.kind {
        ItemKind::Reply(parts) => match parts.last() {
            Some(Part::Opaque(raw)) => Err(format!("reasoning without its required following item: {raw}")),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// The parts of a reply, in the form in which they must come back.
pub(super) fn parts(turn: &Turn, id: &str) -> Vec<Part> {
    let parts = blocks(&turn.pieces).into_iter().enumerate().map(|(at, block)| match block {
        Piece::Text(text) => Part::Whole { raw: message(id, at, &text), text },
        Piece::Reasoning(text) => Part::Opaque(reasoning(id, at, &text)),
        Piece::Redacted | Piece::Gate(_) => Part::Opaque(reasoning(id, at, "")),
        Piece::Call { tool, arguments } => Part::Call {
            id: call_id(id, at),
            extra: Some(call_around(id, at, &tool).concat()),
            tool,
            arguments,
        },
    });
    parts.collect()
}

fn call_id(id: &str, at: usize) -> String {
    format!("call_{id}_{at}")
}

/// Items are in an order that no JSON library would choose, and have extra spaces, to check that they come
/// back verbatim.
fn reasoning(id: &str, at: usize, summary: &str) -> String {
    let summary = match summary {
        "" => String::new(),
        text => format!(r#"{{"type":"summary_text", "text":{}}}"#, Value::from(text)),
    };
    format!(
        r#"{{"type":"reasoning","id":"rs_{id}_{at}", "summary":[{summary}],"encrypted_content":"sig/{id}/{at}+==","n":1.50}}"#
    )
}

fn message(id: &str, at: usize, text: &str) -> String {
    let text = Value::from(text);
    let part = format!(r#"{{"type":"output_text", "text":{text},"annotations":[],"logprobs":[]}}"#);
    format!(
        r#"{{"type":"message","status":"completed", "id":"msg_{id}_{at}","role":"assistant","phase":"commentary","content":[{part}]}}"#
    )
}

/// A call's item before and after its arguments.
fn call_around(id: &str, at: usize, tool: &str) -> [String; 2] {
    let call_id = call_id(id, at);
    [
        format!(r#"{{"type":"function_call","id":"fc_{id}_{at}","status":"completed","arguments":"#),
        format!(r#","call_id":"{call_id}","name":"{tool}","z":[1.50, "é"]}}"#),
    ]
}

fn call(id: &str, at: usize, tool: &str, arguments: &str) -> String {
    let [before, after] = call_around(id, at, tool);
    format!("{before}{}{after}", Value::from(arguments))
}

/// The stream of a reply.
pub(super) fn frames(turn: &Turn, id: &str) -> Vec<Frame> {
    let mut stream = Stream::of(id);
    let begun = json!({ "id": format!("resp_{id}"), "object": "response", "status": "in_progress", "model": MODEL, "error": null, "output": [] });
    for kind in ["response.created", "response.in_progress"] {
        stream.frames.push(event(kind, &format!(r#","response":{begun}"#)));
    }
    for piece in &turn.pieces {
        stream.play(piece);
    }
    stream.end()
}

/// A reply on its way.
struct Stream<'a> {
    id: &'a str,
    frames: Vec<Frame>,
    /// The item that is being written, and its text so far.
    open: Option<(Kind, String)>,
    /// The items so far.
    output: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
}

impl<'a> Stream<'a> {
    const fn of(id: &'a str) -> Self {
        Self { id, frames: Vec::new(), open: None, output: Vec::new() }
    }

    fn play(&mut self, piece: &Piece) {
        match piece {
            Piece::Gate(gate) => self.frames.push(Frame::Gate(gate.clone())),
            Piece::Text(text) => self.write(Kind::Text, text),
            Piece::Reasoning(text) => self.write(Kind::Reasoning, text),
            Piece::Redacted => {
                self.leave();
                let item = reasoning(self.id, self.output.len(), "");
                self.begin(&item);
                self.finish(item);
            }
            Piece::Call { tool, arguments } => {
                self.leave();
                self.call(tool, arguments);
            }
        }
    }

    fn write(&mut self, kind: Kind, text: &str) {
        if self.open.as_ref().is_none_or(|(open, _)| *open != kind) {
            self.leave();
            let at = self.output.len();
            self.begin(&match kind {
                Kind::Text => message(self.id, at, ""),
                Kind::Reasoning => reasoning(self.id, at, "").replace("+==", ""),
            });
            self.open = Some((kind, String::new()));
        }
        if let Some((_, whole)) = &mut self.open {
            whole.push_str(text);
        }
        let name = match kind {
            Kind::Text => "response.output_text.delta",
            Kind::Reasoning => "response.reasoning_summary_text.delta",
        };
        let at = self.output.len();
        let fields = format!(
            r#","output_index":{at},"summary_index":0,"content_index":0,"delta":{}"#,
            Value::from(text)
        );
        self.frames.push(event(name, &fields));
    }

    fn leave(&mut self) {
        let Some((kind, text)) = self.open.take() else { return };
        let at = self.output.len();
        self.finish(match kind {
            Kind::Text => message(self.id, at, &text),
            Kind::Reasoning => reasoning(self.id, at, &text),
        });
    }

    fn begin(&mut self, item: &str) {
        let fields = format!(r#","output_index":{},"item":{item}"#, self.output.len());
        self.frames.push(event("response.output_item.added", &fields));
    }

    fn finish(&mut self, item: String) {
        let fields = format!(r#","output_index":{},"item":{item}"#, self.output.len());
        self.frames.push(event("response.output_item.done", &fields));
        self.output.push(item);
    }

    fn call(&mut self, tool: &str, arguments: &str) {
        let at = self.output.len();
        self.begin(&call(self.id, at, tool, ""));
        for piece in pieces_of(arguments) {
            let fields = format!(r#","output_index":{at},"delta":{}"#, Value::from(piece.as_str()));
            self.frames.push(event("response.function_call_arguments.delta", &fields));
        }
        self.finish(call(self.id, at, tool, arguments));
    }

    fn end(mut self) -> Vec<Frame> {
        self.leave();
        let usage = json!({ "input_tokens": 100, "input_tokens_details": { "cached_tokens": 40 },
            "output_tokens": 10, "output_tokens_details": { "reasoning_tokens": 2 }, "total_tokens": 110 });
        let (id, output) = (self.id, self.output.join(","));
        self.frames.push(event(
            "response.completed",
            &format!(
                r#","response":{{"id":"resp_{id}","status":"completed","incomplete_details":null,"output":[{output}],"usage":{usage}}}"#
            ),
        ));
        self.frames
    }
}

/// Not written by a JSON library, which would change the items.
fn event(kind: &str, fields: &str) -> Frame {
    Frame::event(format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{fields}}}\n\n"))
}
