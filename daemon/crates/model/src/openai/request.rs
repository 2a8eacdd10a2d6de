//! The body of a request. Messages come last and in order, so that a longer conversation begins with the bytes of a shorter one.

use crate::{config::Api, fields::Fields, replay, request::ModelRequest};
use abide_protocol::{
    JsonText,
    transcript::{Block, CallBlock, Entry, Reply, ToolSpec},
};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use std::borrow::Cow;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Message<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a JsonText,
}

impl<'a> From<&'a ToolSpec> for Tool<'a> {
    fn from(tool: &'a ToolSpec) -> Self {
        let function =
            Function { name: &tool.name, description: &tool.description, parameters: &tool.parameters };
        Self { r#type: "function", function }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Message<'a> {
    Plain { role: &'static str, content: Cow<'a, str> },
    Tool { role: &'static str, tool_call_id: Cow<'a, str>, content: &'a str },
    Assistant(Assistant<'a>),
}

/// The request as JSON. `by_openai`: to the maker of the api, whose newer models want the limit under its newer name.
pub(super) fn body(model: &str, request: &ModelRequest, by_openai: bool) -> serde_json::Result<Vec<u8>> {
    let limit = request.max_output_tokens;
    serde_json::to_vec(&Body {
        model,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        max_tokens: limit.filter(|_| !by_openai),
        max_completion_tokens: limit.filter(|_| by_openai),
        tools: request.tools.iter().map(Tool::from).collect(),
        messages: messages(model, request),
    })
}

fn messages<'a>(model: &str, request: &'a ModelRequest) -> Vec<Message<'a>> {
    let mut messages = Vec::with_capacity(request.entries.len() + 1);
    if !request.system.is_empty() {
        messages.push(Message::Plain { role: "system", content: Cow::Borrowed(&request.system) });
    }
    let mut same_api = true;
    for entry in &request.entries {
        match entry {
            Entry::User(text) | Entry::Note(text) => push_user(&mut messages, text),
            Entry::Partial(text) if text.trim().is_empty() => {}
            Entry::Partial(text) => {
                messages.push(Message::Plain { role: "assistant", content: Cow::Borrowed(text) });
            }
            Entry::Reply(reply) => {
                same_api = reply.api == Api::OpenAiChat.name();
                messages.extend(Assistant::of(reply, model).map(Message::Assistant));
            }
            Entry::Result(result) => messages.push(Message::Tool {
                role: "tool",
                tool_call_id: replay::call_id(&result.provider_id, result.call_id, same_api),
                content: replay::result_text(&result.text),
            }),
        }
    }
    messages
}

/// Many chat templates want user and assistant to take turns, so what a person and the system say in a row is one message.
fn push_user<'a>(messages: &mut Vec<Message<'a>>, text: &'a str) {
    if let Some(Message::Plain { role: "user", content }) = messages.last_mut() {
        let content = content.to_mut();
        content.push_str("\n\n");
        content.push_str(text);
    } else {
        messages.push(Message::Plain { role: "user", content: Cow::Borrowed(text) });
    }
}

/// An earlier reply.
struct Assistant<'a> {
    reply: &'a Reply,
    /// It came from the api and model that it goes to.
    native: bool,
}

impl<'a> Assistant<'a> {
    /// Nothing if there is nothing in it to send.
    fn of(reply: &'a Reply, model: &str) -> Option<Self> {
        let has_something = reply.blocks.iter().any(|b| match b {
            Block::Text(text) => !text.text.trim().is_empty(),
            Block::Call(_) => true,
            Block::Reasoning(_) => false,
        });
        let native = reply.api == Api::OpenAiChat.name() && reply.model == model;
        has_something.then_some(Self { reply, native })
    }
}

impl Serialize for Assistant<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "assistant")?;
        let text = self.reply.text();
        map.serialize_entry("content", &(!text.is_empty()).then_some(text))?;
        if self.native {
            for block in &self.reply.blocks {
                let (Block::Text(block) | Block::Reasoning(block)) = block else { continue };
                for (name, value) in Fields::of(block.opaque.as_ref()).iter() {
                    if value.get() == "null" {
                        map.serialize_entry(name, &block.text)?;
                    } else {
                        map.serialize_entry(name, value)?;
                    }
                }
            }
        }
        let calls: Vec<_> = self.reply.calls().map(|call| Call { call, reply: self }).collect();
        if !calls.is_empty() {
            map.serialize_entry("tool_calls", &calls)?;
        }
        map.end()
    }
}

struct Call<'a> {
    call: &'a CallBlock,
    reply: &'a Assistant<'a>,
}

impl Serialize for Call<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Function<'a> {
            name: Cow<'a, str>,
            arguments: &'a str,
        }
        let call = self.call;
        let same_api = self.reply.reply.api == Api::OpenAiChat.name();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &replay::call_id(&call.provider_id, call.id, same_api))?;
        map.serialize_entry("type", "function")?;
        let arguments = replay::arguments(&call.arguments).get();
        map.serialize_entry("function", &Function { name: replay::tool_name(&call.tool), arguments })?;
        if self.reply.native {
            for (name, value) in Fields::of(call.opaque.as_ref()).iter() {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}
