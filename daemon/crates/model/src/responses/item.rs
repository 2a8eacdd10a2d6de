//! The input items of a request.

use crate::{fields::Fields, replay};
use abide_protocol::{
    JsonText,
    transcript::{Block, CallBlock, Reply, TextBlock},
};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Item<'a> {
    /// An output item of this model, byte for byte.
    Given(&'a JsonText),
    Call(Call<'a>),
    Plain(Plain<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Plain<'a> {
    Message { role: &'static str, content: [Text<'a>; 1] },
    FunctionCallOutput { call_id: Cow<'a, str>, output: &'a str },
}

#[derive(Serialize)]
pub(super) struct Text<'a> {
    r#type: &'static str,
    text: &'a str,
}

/// A call in words that every server accepts: an output item with some values replaced, or a new item.
pub(super) struct Call<'a> {
    fields: Fields<'a>,
    call_id: Cow<'a, str>,
    name: Cow<'a, str>,
    arguments: &'a RawValue,
}

impl<'a> Item<'a> {
    pub(super) fn user(text: &'a str) -> Self {
        Self::Plain(Plain::Message { role: "user", content: [Text { r#type: "input_text", text }] })
    }

    /// `None` for blank text, which says nothing.
    pub(super) fn assistant(text: &'a str) -> Option<Self> {
        let content = [Text { r#type: "output_text", text }];
        (!text.trim().is_empty()).then_some(Self::Plain(Plain::Message { role: "assistant", content }))
    }

    pub(super) fn result(call_id: Cow<'a, str>, text: &'a str) -> Self {
        Self::Plain(Plain::FunctionCallOutput { call_id, output: replay::result_text(text) })
    }

    /// The items of an earlier reply. `native`: it came from the same API and model; `same_api`: the API
    /// knows the ids of its calls.
    pub(super) fn of_reply(reply: &'a Reply, native: bool, same_api: bool) -> Vec<Self> {
        let mut items = Vec::new();
        // The API rejects a reasoning item without the item that it led to.
        let mut reasoning = Vec::new();
        for block in &reply.blocks {
            let item = match block {
                Block::Reasoning(thought) => {
                    reasoning.extend(thought.opaque.as_ref().filter(|item| native && is_readable(item)));
                    continue;
                }
                Block::Text(TextBlock { text, opaque }) => match opaque {
                    Some(item) if native => Some(Self::Given(item)),
                    _ => Self::assistant(text),
                },
                Block::Call(call) => Some(Self::call(call, native, same_api)),
            };
            if let Some(item) = item {
                items.extend(reasoning.drain(..).map(Self::Given));
                items.push(item);
            }
        }
        items
    }

    fn call(call: &'a CallBlock, native: bool, same_api: bool) -> Self {
        let opaque = call.opaque.as_ref().filter(|_| native);
        let sent = Call {
            fields: Fields::of(opaque),
            call_id: replay::call_id(&call.provider_id, call.id, same_api),
            name: replay::tool_name(&call.tool),
            arguments: replay::arguments(&call.arguments),
        };
        match opaque {
            Some(item) if sent.repeats_its_item() => Self::Given(item),
            _ => Self::Call(sent),
        }
    }
}

/// Nothing is stored at the provider, so it knows its reasoning only from the encrypted text.
fn is_readable(reasoning: &JsonText) -> bool {
    Fields::of(Some(reasoning)).take_raw("encrypted_content").is_some()
}

impl Call<'_> {
    fn replaced(&self, field: &str) -> Option<&str> {
        match field {
            "call_id" => Some(&self.call_id),
            "name" => Some(&self.name),
            "arguments" => Some(self.arguments.get()),
            _ => None,
        }
    }

    /// Whether no value of the output item is replaced.
    fn repeats_its_item(&self) -> bool {
        let is_same = |name: &str, value: &RawValue| match self.replaced(name) {
            Some(text) => serde_json::from_str::<String>(value.get()).is_ok_and(|given| given.trim() == text),
            None => true,
        };
        self.fields.iter().all(|(name, value)| is_same(name, value))
    }
}

impl Serialize for Call<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut given = Vec::new();
        for (name, value) in self.fields.iter() {
            given.push(name);
            match self.replaced(name) {
                Some(text) => map.serialize_entry(name, text)?,
                None => map.serialize_entry(name, value)?,
            }
        }
        if !given.contains(&"type") {
            map.serialize_entry("type", "function_call")?;
        }
        for name in ["call_id", "name", "arguments"].iter().filter(|name| !given.contains(name)) {
            map.serialize_entry(name, &self.replaced(name))?;
        }
        map.end()
    }
}
