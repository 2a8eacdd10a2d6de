//! The body of a request. Messages come last and in order, so that a longer conversation begins with the
//! bytes of a shorter one.

use crate::{
    api::Api,
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

/// The fields that do not belong to the prompt: one that a provider may refuse, and one that differs between
/// the phases of a step.
#[derive(Serialize)]
struct Tail {
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
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

/// The request as JSON. `by_openai`: for OpenAI itself, whose newer models want the limit under its newer
/// name. `schema`: that of the reply, if the provider is to enforce it. `counts`: asks for the counts of
/// tokens.
pub(super) fn body(
    model: &str,
    request: &ModelRequest,
    by_openai: bool,
    schema: Option<&OutputSchema>,
    counts: bool,
) -> serde_json::Result<Vec<u8>> {
    let entries = request.entries();
    let head = || head(model, request, by_openai, schema);
    let tail = Tail {
        stream_options: counts.then_some(StreamOptions { include_usage: true }),
        tool_choice: shape::tool_choice(request),
    };
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
    let mut same_api = replay::last_api(&entries[..from]).is_none_or(|api| api == Api::OpenaiChat.name());
    for (since, entry) in entries.iter().enumerate().skip(from) {
        match entry {
            Entry::User(text) | Entry::Note(text) => push_user(&mut all, since, text),
            Entry::Results(results) => {
                results.iter().for_each(|result| push_user(&mut all, since, &result.text));
            }
            Entry::Partial(text) if text.trim().is_empty() => {}
            Entry::Partial(text) => push_assistant(&mut all, since, Said::Text(text)),
            Entry::Reply(reply) => {
                same_api = reply.api == Api::OpenaiChat.name();
                if says_something(reply) {
                    let native = same_api && reply.model == model;
                    push_assistant(&mut all, since, Said::Reply { reply, native });
                }
            }
            Entry::Result(result) => {
                let message = Message::Tool {
                    role: "tool",
                    tool_call_id: replay::call_id(&result.provider_id, result.call_id, same_api),
                    content: replay::result_text(&result.text),
                };
                all.push(Indexed { since, message });
            }
        }
    }
    let settled = all.len().saturating_sub(1);
    Messages { all, settled }
}

/// Many chat templates want user and assistant to alternate, so words to the model in a row become one
/// message.
fn push_user<'a>(messages: &mut Vec<Indexed<Message<'a>>>, since: usize, text: &'a str) {
    match messages.last_mut() {
        Some(Indexed { message: Message::Plain { role: "user", content }, .. }) => {
            *content = Cow::Owned(format!("{content}\n\n{text}"));
        }
        _ => {
            let message = Message::Plain { role: "user", content: Cow::Borrowed(text) };
            messages.push(Indexed { since, message });
        }
    }
}

/// So do the model's own words in a row. (What follows calls are their results.)
fn push_assistant<'a>(messages: &mut Vec<Indexed<Message<'a>>>, since: usize, said: Said<'a>) {
    match messages.last_mut() {
        Some(Indexed { message: Message::Assistant(last), .. }) if last.calls().next().is_none() => {
            last.0.push(said);
        }
        _ => messages.push(Indexed { since, message: Message::Assistant(Assistant(vec![said])) }),
    }
}

/// Whether anything of a reply can be sent.
fn says_something(reply: &Reply) -> bool {
    reply.blocks.iter().any(|block| match block {
        Block::Text(text) => !text.text.trim().is_empty(),
        Block::Call(_) => true,
        Block::Reasoning(_) => false,
    })
}

/// What the model said in a row, oldest first.
struct Assistant<'a>(Vec<Said<'a>>);

enum Said<'a> {
    Text(&'a str),
    Reply {
        reply: &'a Reply,
        /// It came from the same API and model.
        native: bool,
    },
}

impl<'a> Assistant<'a> {
    fn text(&self) -> String {
        let texts = self.0.iter().map(|said| match said {
            Said::Text(text) => (*text).to_owned(),
            Said::Reply { reply, .. } => reply.text(),
        });
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// The provider's own fields belong to one reply, so of several in a row only those of the last are sent.
    fn last_reply(&self) -> Option<(&'a Reply, bool)> {
        match self.0.last() {
            Some(Said::Reply { reply, native }) => Some((reply, *native)),
            _ => None,
        }
    }

    fn calls(&self) -> impl Iterator<Item = Call<'a>> {
        self.last_reply().into_iter().flat_map(|(reply, native)| {
            let same_api = reply.api == Api::OpenaiChat.name();
            reply.calls().map(move |call| Call { call, same_api, native })
        })
    }
}

impl Serialize for Assistant<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "assistant")?;
        let text = self.text();
        map.serialize_entry("content", &(!text.is_empty()).then_some(text))?;
        if let Some((reply, true)) = self.last_reply() {
            for block in &reply.blocks {
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
        let calls: Vec<_> = self.calls().collect();
        if !calls.is_empty() {
            map.serialize_entry("tool_calls", &calls)?;
        }
        map.end()
    }
}

struct Call<'a> {
    call: &'a CallBlock,
    same_api: bool,
    /// Its reply came from the same API and model.
    native: bool,
}

impl Serialize for Call<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Function<'a> {
            name: Cow<'a, str>,
            arguments: &'a str,
        }
        let call = self.call;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &replay::call_id(&call.provider_id, call.id, self.same_api))?;
        map.serialize_entry("type", "function")?;
        let arguments = replay::arguments(&call.arguments).get();
        map.serialize_entry("function", &Function { name: replay::tool_name(&call.tool), arguments })?;
        if self.native {
            for (name, value) in Fields::of(call.opaque.as_ref()).iter() {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}
