//! Reads the text of a call's arguments.

use abide_protocol::spelling;
use serde_json::{Map, Value, value::RawValue};
use std::collections::HashMap;

/// What a text holds.
pub(super) enum Written {
    Object {
        fields: Map<String, Value>,
        /// Words follow the object.
        rest: bool,
    },
    /// Words, and no JSON; or JSON that is a text.
    Text(String),
    Other,
}

/// How often an object may be in a text that is in a text.
const MAX_DEPTH: usize = 3;

/// Reads arguments. No text is an empty object, as models send it.
pub(super) fn read(text: &str) -> Written {
    read_within(text, 0)
}

fn read_within(text: &str, depth: usize) -> Written {
    let text = spelling::unfenced(text);
    if text.is_empty() {
        return Written::Object { fields: Map::new(), rest: false };
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Written::Object { fields, rest: false },
        Ok(Value::Null) => Written::Object { fields: Map::new(), rest: false },
        Ok(Value::String(inner)) if depth < MAX_DEPTH => match read_within(&inner, depth + 1) {
            object @ Written::Object { .. } if !inner.trim().is_empty() => object,
            _ => Written::Text(inner),
        },
        Ok(_) => Written::Other,
        Err(_) if text.starts_with('{') => object_with_rest(text),
        // A cut value counts as cut, not as words.
        Err(_) if text.starts_with(['[', '"']) => Written::Other,
        Err(_) => Written::Text(text.to_owned()),
    }
}

/// After the object there may be closing signs, a token of the model's or words, but no other object.
fn object_with_rest(text: &str) -> Written {
    let Some((json, rest)) = spelling::json(text) else { return Written::Other };
    let Ok(fields) = serde_json::from_str(&json) else { return Written::Other };
    if rest.contains('{') {
        return Written::Other;
    }
    let rest = rest.trim();
    let is_token = rest.starts_with('<') && rest.ends_with('>');
    let are_signs = rest.chars().all(|c| c.is_whitespace() || "}])\"'`;,".contains(c));
    Written::Object { fields, rest: !is_token && !are_signs }
}

/// The fields of an object as written, because a parsed value loses some of it: `1.10` is 1.1.
pub(super) fn fields(text: &str) -> HashMap<String, &RawValue> {
    serde_json::from_str(text).unwrap_or_default()
}
