//! The body of a request. Messages come last and in order, so that a longer conversation begins with the bytes of a shorter one.

use crate::{
    config::Api,
    fields::Fields,
    replay,
    request::ModelRequest,
    shape,
    written::{Indexed, Messages, Written},
};
use abide_protocol::{
    JsonText,
    shape::OutputSchema,
    transcript::{Block, CallBlock, Entry, Reply, ToolSpec},
};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use std::borrow::Cow;

/// All but the messages.
#[derive(Serialize)]
struct Head<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
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

/// The field that differs between the phases of a step.
#[derive(Serialize)]
struct Tail {
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    json_schema: Schema<'a>,
}

#[derive(Serialize)]
struct Schema<'a> {
    name: &'a str,
    schema: &'a JsonText,
    /// A strict schema has limits that a tool's parameters within it may not keep.
    strict: bool,
}

impl<'a> From<&'a OutputSchema> for ResponseFormat<'a> {
    fn from(output: &'a OutputSchema) -> Self {
        let json_schema = Schema { name: &output.name, schema: &output.schema, strict: false };
        Self { r#type: "json_schema", json_schema }
    }
}

/// The request as JSON. `by_openai`: for OpenAI itself, whose newer models want the limit under its newer name. `schema`: that of the
/// reply, if the provider is to enforce it.
pub(super) fn body(
    model: &str,
    request: &ModelRequest,
    by_openai: bool,
    schema: Option<&OutputSchema>,
) -> serde_json::Result<Vec<u8>> {
    let entries = request.entries();
    let head = || head(model, request, by_openai, schema);
    let tail = Tail { tool_choice: shape::tool_choice(request) };
    Written::body(model, request, schema, head, |from| messages(model, &entries, from), &tail)
}

fn head(
    model: &str,
    request: &ModelRequest,
    by_openai: bool,
    schema: Option<&OutputSchema>,
) -> serde_json::Result<Vec<u8>> {
    let limit = request.max_output_tokens;
    let mut head = replay::open_list(
        &Head {
            model,
            stream: true,
            stream_options: StreamOptions { include_usage: true },
            max_tokens: limit.filter(|_| !by_openai),
            max_completion_tokens: limit.filter(|_| by_openai),
            tools: request.tools.iter().map(Tool::from).collect(),
            response_format: schema.map(Into::into),
        },
        "messages",
    )?;
    if !request.system.is_empty() {
        let system = Message::Plain { role: "system", content: Cow::Borrowed(&request.system) };
        serde_json::to_writer(&mut head, &system)?;
    }
    Ok(head)
}

/// The messages of the entries from this index on. The last one may grow.
fn messages<'a>(model: &str, entries: &'a [Entry], from: usize) -> Messages<Message<'a>> {
    let mut all: Vec<Indexed<Message<'a>>> = Vec::new();
    let mut same_api = replay::last_api(&entries[..from]).is_none_or(|api| api == Api::OPENAI_CHAT.name());
    for (since, entry) in entries.iter().enumerate().skip(from) {
        let message = match entry {
            Entry::User(text) | Entry::Note(text) => {
                if let Some(Indexed { message: Message::Plain { role: "user", content }, .. }) =
                    all.last_mut()
                {
                    // Many chat templates want user and assistant to alternate, so words of a person and the system in a row
                    // become one message.
                    *content = Cow::Owned(format!("{content}\n\n{text}"));
                    continue;
                }
                Some(Message::Plain { role: "user", content: Cow::Borrowed(text) })
            }
            Entry::Results(results) => {
                let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
                Some(Message::Plain { role: "user", content: Cow::Owned(texts.join("\n\n")) })
            }
            Entry::Partial(text) => (!text.trim().is_empty())
                .then_some(Message::Plain { role: "assistant", content: Cow::Borrowed(text) }),
            Entry::Reply(reply) => {
                same_api = reply.api == Api::OPENAI_CHAT.name();
                Assistant::of(reply, model).map(Message::Assistant)
            }
            Entry::Result(result) => Some(Message::Tool {
                role: "tool",
                tool_call_id: replay::call_id(&result.provider_id, result.call_id, same_api),
                content: replay::result_text(&result.text),
            }),
        };
        all.extend(message.map(|message| Indexed { since, message }));
    }
    let settled = all.len().saturating_sub(1);
    Messages { all, settled }
}

/// An earlier reply.
struct Assistant<'a> {
    reply: &'a Reply,
    /// It came from the same API and model.
    native: bool,
}

impl<'a> Assistant<'a> {
    /// `None` if nothing of the reply can be sent.
    fn of(reply: &'a Reply, model: &str) -> Option<Self> {
        let has_something = reply.blocks.iter().any(|b| match b {
            Block::Text(text) => !text.text.trim().is_empty(),
            Block::Call(_) => true,
            Block::Reasoning(_) => false,
        });
        let native = reply.api == Api::OPENAI_CHAT.name() && reply.model == model;
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
        let same_api = self.reply.reply.api == Api::OPENAI_CHAT.name();
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
