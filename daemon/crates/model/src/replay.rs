//! Sends calls back in a form that every provider accepts: a model may write invalid ids, names and
//! arguments.

use abide_protocol::{
    CallId,
    transcript::{Block, Entry},
};
use serde::Serialize;
use serde_json::value::RawValue;
use std::{borrow::Cow, collections::HashSet};

/// The API that the last reply came from, if there is one: it knows the ids of its calls.
pub(crate) fn last_api(entries: &[Entry]) -> Option<&str> {
    entries
        .iter()
        .rev()
        .find_map(|e| if let Entry::Reply(reply) = e { Some(reply.api.as_str()) } else { None })
}

/// The calls whose provider's id an earlier call has.
pub(crate) fn repeated_ids(entries: &[Entry]) -> HashSet<CallId> {
    let mut ids = HashSet::new();
    let replies = entries.iter().filter_map(|e| if let Entry::Reply(reply) = e { Some(reply) } else { None });
    let calls = replies.flat_map(|reply| reply.calls()).filter(|call| !call.provider_id.is_empty());
    calls.filter(|call| !ids.insert(call.provider_id.as_str())).map(|call| call.id).collect()
}

/// Blocks without the provider's own data, which some providers accept only beside every block of the reply
/// that it came in.
pub(crate) fn plain(mut blocks: Vec<Block>) -> Vec<Block> {
    for block in &mut blocks {
        match block {
            Block::Text(said) | Block::Reasoning(said) => said.opaque = None,
            Block::Call(call) => call.opaque = None,
        }
    }
    blocks
        .retain(|block| !matches!(block, Block::Text(said) | Block::Reasoning(said) if said.text.is_empty()));
    blocks
}

/// An object as JSON, left open within its last field, a list.
pub(crate) fn open_list(object: &impl Serialize, field: &str) -> serde_json::Result<Vec<u8>> {
    let mut open = serde_json::to_vec(object)?;
    // At least one field comes before it.
    open.pop();
    open.extend_from_slice(format!(",\"{field}\":[").as_bytes());
    Ok(open)
}

/// A call's id in a request: the provider's own if the API knows it, else Abide's.
pub(crate) fn call_id(provider_id: &str, call: CallId, same_api: bool) -> Cow<'_, str> {
    if same_api && !provider_id.is_empty() {
        Cow::Borrowed(provider_id)
    } else {
        Cow::Owned(format!("call_{}", call.0.simple()))
    }
}

/// A tool's name, limited to the characters that providers accept.
pub(crate) fn tool_name(name: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() {
        Cow::Borrowed("unknown")
    } else if name.len() <= 64 && name.chars().all(fits) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(name.chars().take(64).map(|c| if fits(c) { c } else { '_' }).collect())
    }
}

/// A call's arguments byte for byte, or `{}` if they are not one JSON object.
pub(crate) fn arguments(raw: &str) -> &RawValue {
    object(raw).or_else(|| object("{}")).unwrap_or(RawValue::NULL)
}

pub(crate) fn object(raw: &str) -> Option<&RawValue> {
    serde_json::from_str::<&RawValue>(raw).ok().filter(|value| value.get().starts_with('{'))
}

/// A result's text; empty text is replaced, since providers reject it.
pub(crate) fn result_text(text: &str) -> &str {
    if text.trim().is_empty() { "(no output)" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_objects_go_back_as_they_are() {
        for whole in ["{}", r#" {"a": 1.50} "#] {
            assert_eq!(arguments(whole).get(), whole.trim());
        }
        for other in ["", "[1]", "\"{}\"", "null", "7", "{", "{} {}", "{path: 1}"] {
            assert_eq!(arguments(other).get(), "{}", "{other}");
        }
    }

    #[test]
    fn tool_names_are_limited_to_accepted_characters() {
        assert_eq!(tool_name("read"), "read");
        assert_eq!(tool_name("functions.read\n"), "functions_read_");
        assert_eq!(tool_name(&"ü".repeat(100)), "_".repeat(64));
        assert_eq!(tool_name(""), "unknown");
    }
}
