//! Finds the control block in a reply's text: the last `json` fence, else the last balanced JSON object.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// A longer block is not read, in bytes.
const MAX_BYTES: usize = 64 * 1024;
const FENCE: &str = "```";
/// What a block begins with, unless it is bare.
pub(super) const JSON_FENCE: &str = "```json";

/// A control block, and the text around it.
#[derive(Debug)]
pub(super) struct Block {
    fields: Map<String, Value>,
    around: String,
}

impl Block {
    /// The block, if it has at least one of these fields.
    pub(super) fn find(text: &str, fields: &[&str]) -> Option<Self> {
        let is_block = |object: &Map<String, Value>| fields.iter().any(|field| object.contains_key(*field));
        let found = fenced(text).filter(|(object, _)| is_block(object));
        let (fields, place) = found.or_else(|| last_object(text).filter(|(object, _)| is_block(object)))?;
        let (before, after) = (text[..place.start].trim(), text[place.end..].trim());
        let around = [before, after].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        Some(Self { fields, around: around.join("\n\n") })
    }

    /// The text around the block, or this one if there is none.
    pub(super) fn around_or(&self, other: &str) -> String {
        if self.around.is_empty() { other.to_owned() } else { self.around.clone() }
    }

    /// A field's text; empty if it is not a text.
    pub(super) fn text(&self, field: &str) -> String {
        self.fields.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// A field's truth value, if it is one.
    pub(super) fn flag(&self, field: &str) -> Option<bool> {
        self.fields.get(field).and_then(Value::as_bool)
    }

    /// A field's entries; none if it is not a list.
    pub(super) fn list(&self, field: &str) -> &[Value] {
        self.fields.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

type Found = (Map<String, Value>, std::ops::Range<usize>);

/// The object in the last `json` fence. A fence that the reply's end cuts off counts too.
fn fenced(text: &str) -> Option<Found> {
    let start = text.rfind(JSON_FENCE)?;
    let inside = &text[start + JSON_FENCE.len()..];
    let length = inside.find(FENCE).unwrap_or(inside.len());
    let body = inside.get(..length)?;
    let end = start + JSON_FENCE.len() + (length + FENCE.len()).min(inside.len());
    Some((parse(body)?, start..end))
}

/// The last balanced object that is not inside another one.
fn last_object(text: &str) -> Option<Found> {
    let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_BYTES));
    let (mut at, mut last) = (from, None);
    while let Some(offset) = text[at..].find('{') {
        let start = at + offset;
        let mut objects = serde_json::Deserializer::from_str(&text[start..]).into_iter::<IgnoredAny>();
        at = match objects.next() {
            Some(Ok(_)) => {
                let end = start + objects.byte_offset();
                last = Some(start..end);
                end
            }
            // No object begins here.
            _ => start + 1,
        };
    }
    let place = last?;
    Some((parse(&text[place.clone()])?, place))
}

/// Of equal names the last one counts.
fn parse(object: &str) -> Option<Map<String, Value>> {
    if object.len() > MAX_BYTES {
        return None;
    }
    serde_json::from_str(object).ok()
}
