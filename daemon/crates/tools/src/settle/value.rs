//! Gives values the types that a schema asks for.

use crate::text::one_line;
use serde_json::{Map, Value, value::RawValue};
use std::collections::HashMap;

/// From this number on, a floating point number stands for more than one integer.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// A schema. Only types, properties and items are read here; the validation reads the rest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schema<'s>(pub(super) &'s Value);

impl<'s> Schema<'s> {
    pub(super) fn required(self) -> impl Iterator<Item = &'s str> {
        self.0.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    pub(super) fn property(self, name: &str) -> Option<Self> {
        self.0.get("properties")?.get(name).map(Self)
    }

    /// Whether the schema, or an alternative in it, names this type.
    pub(super) fn allows(self, kind: &str) -> bool {
        let named = match self.0.get("type") {
            Some(Value::String(only)) => only == kind,
            Some(Value::Array(several)) => several.iter().any(|one| one == kind),
            _ => false,
        };
        let alternatives = ["anyOf", "oneOf"].into_iter().filter_map(|name| self.0.get(name)?.as_array());
        named || alternatives.flatten().any(|one| Self(one).allows(kind))
    }

    /// Whether the schema names any type.
    fn is_typed(self) -> bool {
        ["null", "boolean", "integer", "number", "string", "array", "object"]
            .iter()
            .any(|kind| self.allows(kind))
    }

    /// Whether the schema forbids properties that it does not name.
    fn is_closed(self) -> bool {
        self.0.get("additionalProperties") == Some(&Value::Bool(false))
            && ["patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if"]
                .iter()
                .all(|other| self.0.get(other).is_none())
    }

    fn fits(self, value: &Value) -> bool {
        match value {
            Value::Null => self.allows("null"),
            Value::Bool(_) => self.allows("boolean"),
            Value::Number(number) => self.allows("number") || self.allows("integer") && !number.is_f64(),
            Value::String(_) => self.allows("string"),
            Value::Array(_) => self.allows("array"),
            Value::Object(_) => self.allows("object"),
        }
    }
}

/// Settles the fields of an object. `written` has the fields whose written form is known; `path` is the
/// object's place.
pub(super) fn settle_fields(
    schema: Schema<'_>,
    fields: &mut Map<String, Value>,
    written: &HashMap<String, &RawValue>,
    path: &str,
    notes: &mut Vec<String>,
) {
    // A call with missing fields is refused, and the model should see what it wrote.
    let is_whole = schema.required().all(|required| fields.contains_key(required));
    let names: Vec<String> = fields.keys().cloned().collect();
    for name in names {
        let place = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let Some(property) = schema.property(&name) else {
            if is_whole && schema.is_closed() {
                fields.remove(&name);
                notes.push(format!("there is no field `{}`: it was left out", one_line(&place, 60)));
            }
            continue;
        };
        let is_optional = schema.required().all(|required| required != name);
        let Some(value) = fields.get_mut(&name) else { continue };
        let is_nothing = match value {
            Value::Null => property.is_typed() && !property.allows("null"),
            Value::String(text) => property.is_typed() && text.is_empty(),
            _ => false,
        };
        if is_nothing && is_optional {
            fields.remove(&name);
        } else {
            settle_value(property, value, written.get(&name).copied(), &place, notes);
        }
    }
}

fn settle_value(
    schema: Schema<'_>,
    value: &mut Value,
    written: Option<&RawValue>,
    place: &str,
    notes: &mut Vec<String>,
) {
    if schema.is_typed()
        && !schema.fits(value)
        && let Some(other) = converted(schema, value, written)
    {
        *value = other;
    }
    match value {
        Value::Object(fields) => settle_fields(schema, fields, &HashMap::new(), place, notes),
        Value::Array(items) => {
            if let Some(schema) = schema.0.get("items").map(Schema) {
                for (number, item) in items.iter_mut().enumerate() {
                    settle_value(schema, item, None, &format!("{place}[{number}]"), notes);
                }
            }
        }
        _ => {}
    }
}

/// The value in a type that the schema allows. `None`: no such value says the same.
fn converted(schema: Schema<'_>, value: &Value, written: Option<&RawValue>) -> Option<Value> {
    match value {
        Value::Number(number) if number.is_f64() && schema.allows("integer") => integer(number.as_f64()?),
        Value::Number(number) if schema.allows("string") => {
            let text = number.to_string();
            let is_exact = !number.is_f64() || written.is_some_and(|written| written.get() == text);
            is_exact.then(|| Value::from(text))
        }
        Value::Bool(truth) if schema.allows("string") => Some(Value::from(truth.to_string())),
        Value::String(text) => in_text(schema, text.trim()),
        _ => None,
    }
}

fn in_text(schema: Schema<'_>, text: &str) -> Option<Value> {
    if schema.allows("boolean") && (text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")) {
        return Some(Value::from(text.eq_ignore_ascii_case("true")));
    }
    let read: Value = serde_json::from_str(text).ok()?;
    match &read {
        Value::Number(number) if number.is_f64() && !schema.allows("number") => {
            integer(number.as_f64()?).filter(|whole| schema.fits(whole))
        }
        Value::Number(_) | Value::Array(_) | Value::Object(_) => schema.fits(&read).then_some(read),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it is exact within these bounds")]
fn integer(number: f64) -> Option<Value> {
    (number.fract() == 0.0 && number.abs() < MAX_EXACT).then(|| Value::from(number as i64))
}
