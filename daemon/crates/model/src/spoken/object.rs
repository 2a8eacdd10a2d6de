//! Calls as JSON: `{"name": …, "arguments": …}` and its relatives.

use super::Spoken;
use crate::fields::Fields;
use serde_json::value::RawValue;

/// A call as an object, which has nothing else.
pub(super) struct Object {
    pub(super) call: Spoken,
    pub(super) by: By,
}

/// The field that its arguments are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Arguments,
    /// `parameters` or the like, which other objects have too.
    Parameters,
    /// There is none.
    Nothing,
}

/// The calls of an object, of a list, or of a list in a field `tool_calls`.
pub(super) fn all(json: &str) -> Option<Vec<Object>> {
    if json.starts_with('[') {
        return list(json);
    }
    let mut fields = Fields::parse(json).ok()?;
    match fields.take_raw("tool_calls") {
        Some(calls) => fields.iter().next().is_none().then(|| list(calls.get()))?,
        None => Some(vec![one(json)?]),
    }
}

fn list(json: &str) -> Option<Vec<Object>> {
    let list: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    list.into_iter().map(|object| one(object.get())).collect()
}

fn one(json: &str) -> Option<Object> {
    let mut fields = Fields::parse(json).ok()?;
    without_ids(&mut fields);
    let mut text = |name: &str| fields.take_raw(name).map(RawValue::get);
    match text("function") {
        // The call is within it, and nothing else beside it.
        Some(function) if function.starts_with('{') => {
            fields.iter().next().is_none().then_some(())?;
            let mut fields = Fields::parse(function).ok()?;
            without_ids(&mut fields);
            let name = fields.take::<String>("name").ok()??;
            with_name(name, fields)
        }
        Some(name) => with_name(serde_json::from_str(name).ok()?, fields),
        None => {
            let name = ["name", "tool_name", "tool"].into_iter().find_map(text)?;
            with_name(serde_json::from_str(name).ok()?, fields)
        }
    }
}

fn without_ids(fields: &mut Fields<'_>) {
    for known in ["id", "type", "call_id", "tool_call_id", "index"] {
        fields.take_raw(known);
    }
}

fn with_name(name: String, mut fields: Fields<'_>) -> Option<Object> {
    let (by, arguments) = match fields.take_raw("arguments") {
        Some(arguments) => (By::Arguments, arguments.get()),
        None => match ["parameters", "args", "input"].into_iter().find_map(|name| fields.take_raw(name)) {
            Some(parameters) => (By::Parameters, parameters.get()),
            None => (By::Nothing, "{}"),
        },
    };
    // The arguments may be an object, or a text that holds it.
    let are_arguments = arguments.starts_with('{') || arguments.starts_with('"');
    let has_more = fields.iter().next().is_some();
    (are_arguments && !has_more)
        .then(|| Object { call: Spoken { name, arguments: arguments.to_owned() }, by })
}
