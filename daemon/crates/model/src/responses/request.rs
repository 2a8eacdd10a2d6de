//! The body of a request. Input items come last and in order, so that a longer conversation begins with the
//! bytes of a shorter one.

use super::item::Item;
use crate::{
    api::Api,
    replay,
    request::ModelRequest,
    shape,
    written::{Indexed, Messages, Written},
};
use abide_protocol::{
    ConversationId, JsonText,
    shape::OutputSchema,
    transcript::{Entry, ToolSpec},
};
use serde::Serialize;

/// All but the items and what follows them.
#[derive(Serialize)]
struct Head<'a> {
    model: &'a str,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextConfig<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a JsonText,
    /// Here the default is true, and a strict schema may have no optional parameters.
    strict: bool,
}

impl<'a> From<&'a ToolSpec> for Tool<'a> {
    fn from(tool: &'a ToolSpec) -> Self {
        Self {
            r#type: "function",
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.parameters,
            strict: false,
        }
    }
}

/// The fields that do not belong to the prompt, and the one that differs between the phases of a step.
#[derive(Serialize)]
struct Tail<'a> {
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'a [&'static str],
    /// Requests with the same key go where their prefix is cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<ConversationId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
}

#[derive(Serialize)]
struct TextConfig<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    name: &'a str,
    schema: &'a JsonText,
    strict: bool,
}

impl<'a> From<&'a OutputSchema> for TextConfig<'a> {
    fn from(output: &'a OutputSchema) -> Self {
        let OutputSchema { name, schema } = output;
        Self { format: Format { r#type: "json_schema", name, schema, strict: false } }
    }
}

/// The request as JSON. `reasons`: the model may have reasoning, which is wanted in encrypted form.
pub(super) fn body(model: &str, request: &ModelRequest, reasons: bool) -> serde_json::Result<Vec<u8>> {
    let entries = request.entries();
    let schema = request.shape.output_schema.as_deref();
    let head = || {
        let head = Head {
            model,
            stream: true,
            store: false,
            instructions: &request.system,
            max_output_tokens: request.max_output_tokens,
            tools: request.tools.iter().map(Tool::from).collect(),
            text: schema.map(Into::into),
        };
        replay::open_list(&head, "input")
    };
    let tail = Tail {
        include: if reasons { &["reasoning.encrypted_content"] } else { &[] },
        prompt_cache_key: request.conversation,
        tool_choice: shape::tool_choice(request),
    };
    Written::body(model, request, schema, head, |from| items(model, &entries, from), &tail)
}

/// The items of the entries from this index on. No later entry changes one.
fn items<'a>(model: &str, entries: &'a [Entry], from: usize) -> Messages<Item<'a>> {
    let mut all: Vec<Indexed<Item<'a>>> = Vec::new();
    let this_api = Api::OpenaiResponses.name();
    let mut same_api = replay::last_api(&entries[..from]).is_none_or(|api| api == this_api);
    for (since, entry) in entries.iter().enumerate().skip(from) {
        let items = match entry {
            Entry::User(text) | Entry::Note(text) => vec![Item::user(text)],
            Entry::Results(results) => results.iter().map(|result| Item::user(&result.text)).collect(),
            Entry::Partial(text) => Item::assistant(text).into_iter().collect(),
            Entry::Reply(reply) => {
                same_api = reply.api == this_api;
                Item::of_reply(reply, same_api && reply.model == model, same_api)
            }
            Entry::Result(result) => {
                let call_id = replay::call_id(&result.provider_id, result.call_id, same_api);
                vec![Item::result(call_id, &result.text)]
            }
        };
        all.extend(items.into_iter().map(|message| Indexed { since, message }));
    }
    // The beginning is kept up to whole entries.
    let last = all.last().map_or(0, |item| item.since);
    let settled = all.iter().filter(|item| item.since < last).count();
    Messages { all, settled }
}
