//! Checks a call's arguments against the schema of its tool. Only the keywords of JSON Schema that the tools
//! use are known here.

use crate::{text::one_line, tool::CallError};
use abide_protocol::transcript::ToolSpec;
use serde_json::{Map, Value};

/// How many faults an error names.
const MAX_NAMED: usize = 3;

/// Keywords that describe a schema and bound no value.
const ANNOTATIONS: [&str; 4] = ["title", "description", "default", "examples"];

/// The schema uses a keyword that is not known here, or in another form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnknownKeyword(String);

/// Whether the arguments fit the tool's schema.
pub(super) fn check(spec: &ToolSpec, arguments: &Value) -> Result<(), CallError> {
    let found = faults(&spec.parameters.value(), arguments).map_err(|UnknownKeyword(keyword)| {
        CallError::Schema { tool: spec.name.clone(), error: format!("its keyword {keyword:?} is not known") }
    })?;
    if found.is_empty() { Ok(()) } else { Err(CallError::Arguments(found.join("; "))) }
}

/// The first faults of a value, each with its place. The whole schema is read.
pub(crate) fn faults(schema: &Value, value: &Value) -> Result<Vec<String>, UnknownKeyword> {
    let mut check = Check { path: Vec::new(), found: Vec::new() };
    check.value(schema, Some(value))?;
    Ok(check.found)
}

/// The depth of schema and value is bounded by that of JSON texts, which `serde_json` limits to 128.
struct Check {
    /// The place in the arguments.
    path: Vec<String>,
    found: Vec<String>,
}

impl Check {
    /// Checks a value. `None`: only the schema is checked.
    fn value(&mut self, schema: &Value, value: Option<&Value>) -> Result<(), UnknownKeyword> {
        let Value::Object(keywords) = schema else { return Err(UnknownKeyword(schema.to_string())) };
        for (keyword, operand) in keywords {
            let unknown = || UnknownKeyword(keyword.clone());
            let number = || operand.as_u64().ok_or_else(unknown);
            match keyword.as_str() {
                "type" => {
                    let types = types(operand).ok_or_else(unknown)?;
                    if value.is_some_and(|value| !types.iter().any(|name| is_of(name, value))) {
                        let names: Vec<String> = types.iter().map(|name| format!("{name:?}")).collect();
                        self.fault(&format!("it is not of type {}", names.join(" or ")));
                    }
                }
                "enum" => {
                    let allowed = operand.as_array().ok_or_else(unknown)?;
                    if value.is_some_and(|value| !allowed.contains(value)) {
                        let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
                        self.fault(&format!("it is not one of {}", allowed.join(", ")));
                    }
                }
                "minimum" | "maximum" => {
                    let limit = operand.as_f64().ok_or_else(unknown)?;
                    let value = value.and_then(Value::as_f64);
                    if keyword == "minimum" && value.is_some_and(|value| value < limit) {
                        self.fault(&format!("it is less than the minimum of {operand}"));
                    } else if keyword == "maximum" && value.is_some_and(|value| value > limit) {
                        self.fault(&format!("it is greater than the maximum of {operand}"));
                    }
                }
                "minLength" | "maxLength" => {
                    let limit = number()?;
                    let length = value.and_then(Value::as_str).map(|text| text.chars().count() as u64);
                    self.size(keyword == "minLength", length, limit, "characters");
                }
                "minItems" | "maxItems" => {
                    let limit = number()?;
                    let length = value.and_then(Value::as_array).map(|items| items.len() as u64);
                    self.size(keyword == "minItems", length, limit, "items");
                }
                "required" => {
                    for name in operand.as_array().ok_or_else(unknown)? {
                        let name = name.as_str().ok_or_else(unknown)?;
                        let object = value.and_then(Value::as_object);
                        if object.is_some_and(|object| !object.contains_key(name)) {
                            self.fault(&format!("{name:?} is a required property"));
                        }
                    }
                }
                "properties" => {
                    for (name, schema) in operand.as_object().ok_or_else(unknown)? {
                        self.part(name, schema, value.and_then(|value| value.get(name)))?;
                    }
                }
                "additionalProperties" => {
                    let is_allowed = operand.as_bool().ok_or_else(unknown)?;
                    if let (false, Some(Value::Object(object))) = (is_allowed, value) {
                        self.additional(object, keywords.get("properties").and_then(Value::as_object));
                    }
                }
                "items" => {
                    self.value(operand, None)?;
                    for (place, item) in value.and_then(Value::as_array).into_iter().flatten().enumerate() {
                        self.part(&place.to_string(), operand, Some(item))?;
                    }
                }
                annotation if ANNOTATIONS.contains(&annotation) => {}
                _ => return Err(unknown()),
            }
        }
        Ok(())
    }

    fn part(&mut self, name: &str, schema: &Value, value: Option<&Value>) -> Result<(), UnknownKeyword> {
        self.path.push(name.to_owned());
        let checked = self.value(schema, value);
        self.path.pop();
        checked
    }

    fn additional(&mut self, object: &Map<String, Value>, named: Option<&Map<String, Value>>) {
        for name in object.keys().filter(|name| named.is_none_or(|named| !named.contains_key(*name))) {
            self.fault(&format!("Additional properties are not allowed ('{name}' was unexpected)"));
        }
    }

    fn size(&mut self, is_minimum: bool, size: Option<u64>, limit: u64, unit: &str) {
        match size {
            Some(size) if is_minimum && size < limit => {
                self.fault(&format!("it has less than {limit} {unit}"));
            }
            Some(size) if !is_minimum && size > limit => {
                self.fault(&format!("it has more than {limit} {unit}"));
            }
            _ => {}
        }
    }

    fn fault(&mut self, words: &str) {
        // Only the first are named.
        if self.found.len() < MAX_NAMED {
            let words = one_line(words, 200);
            let place = self.path.join("/");
            self.found.push(if place.is_empty() {
                words
            } else {
                format!("`{}`: {words}", one_line(&place, 60))
            });
        }
    }
}

/// The names of one type, or of several.
fn types(operand: &Value) -> Option<Vec<&str>> {
    let names: Vec<&str> = match operand {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().map(Value::as_str).collect::<Option<_>>()?,
        _ => return None,
    };
    let known = ["string", "integer", "number", "boolean", "array", "object", "null"];
    names.iter().all(|name| known.contains(name)).then_some(names)
}

fn is_of(name: &str, value: &Value) -> bool {
    match (name, value) {
        // 3.0 is an integer, too.
        ("integer", Value::Number(number)) => {
            number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        ("string", Value::String(_))
        | ("number", Value::Number(_))
        | ("boolean", Value::Bool(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_))
        | ("null", Value::Null) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({
            "type": "object",
            "description": "Everything.",
            "properties": {
                "text": { "type": "string", "minLength": 1, "maxLength": 3 },
                "count": { "type": "integer", "minimum": 1, "maximum": 3, "default": 2 },
                "part": { "type": ["number", "null"] },
                "kind": { "enum": ["a", 1, true] },
                "list": { "type": "array", "minItems": 1, "maxItems": 2, "items": {
                    "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"],
                } },
            },
            "required": ["text"],
            "additionalProperties": false,
        })
    }

    #[test]
    fn a_value_fits_or_its_fault_is_named() {
        for (value, expected) in [
            (
                json!({ "text": "é€x", "count": 3.0, "part": null, "kind": true, "list": [{ "ok": true, "more": 1 }] }),
                "",
            ),
            (json!({ "text": "a", "part": 0.5 }), ""),
            (json!({ "text": "" }), "`text`: it has less than 1 characters"),
            (json!({ "text": "abcd" }), "`text`: it has more than 3 characters"),
            (json!({}), "\"text\" is a required property"),
            (json!({ "text": null }), "`text`: it is not of type \"string\""),
            (json!({ "text": "a", "count": 1.5 }), "`count`: it is not of type \"integer\""),
            (json!({ "text": "a", "count": 0 }), "`count`: it is less than the minimum of 1"),
            (json!({ "text": "a", "count": 4 }), "`count`: it is greater than the maximum of 3"),
            (json!({ "text": "a", "part": "x" }), "`part`: it is not of type \"number\" or \"null\""),
            (json!({ "text": "a", "kind": "1" }), "`kind`: it is not one of \"a\", 1, true"),
            (json!({ "text": "a", "list": [] }), "`list`: it has less than 1 items"),
            (json!({ "text": "a", "list": [{ "ok": true }, {}] }), "`list/1`: \"ok\" is a required property"),
            (json!({ "text": "a", "list": [{ "ok": 1 }] }), "`list/0/ok`: it is not of type \"boolean\""),
            (json!({ "text": "a", "x": 1 }), "Additional properties are not allowed ('x' was unexpected)"),
            (json!([]), "it is not of type \"object\""),
        ] {
            assert_eq!(faults(&schema(), &value).unwrap().join("; "), expected, "{value}");
        }
        let many: Map<String, Value> = (0..9).map(|n| (n.to_string(), json!(1))).collect();
        assert_eq!(faults(&schema(), &Value::Object(many)).unwrap().len(), MAX_NAMED);
    }

    #[test]
    fn a_keyword_that_is_not_known_is_an_error_wherever_it_stands() {
        for (schema, keyword) in [
            (json!({ "pattern": "a*" }), "pattern"),
            (json!({ "properties": { "absent": { "$ref": "#" } } }), "$ref"),
            (json!({ "items": { "anyOf": [] } }), "anyOf"),
            (json!({ "type": "float" }), "type"),
            (json!({ "additionalProperties": {} }), "additionalProperties"),
            (json!({ "minLength": -1 }), "minLength"),
            (json!({ "items": true }), "true"),
        ] {
            assert_eq!(faults(&schema, &json!({})), Err(UnknownKeyword(keyword.to_owned())), "{schema}");
        }
    }
}
