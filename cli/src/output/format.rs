//! `ps --format`: a line for each task, with fields of the task named as in JSON.

use crate::{error::CommandError, output::text};
use abide_client::protocol::task::AgentTask;
use serde_json::Value;

/// A task's fields, as the wire names them.
const FIELDS: [&str; 31] = [
    "activeCalls",
    "approvals",
    "children",
    "conversationId",
    "data",
    "depth",
    "endReason",
    "endedAt",
    "errorMessage",
    "externalId",
    "id",
    "incomplete",
    "limits",
    "metadata",
    "mode",
    "model",
    "originalPrompt",
    "parentId",
    "pauseReason",
    "pending",
    "phase",
    "retry",
    "scratchpad",
    "startedAt",
    "status",
    "stepCount",
    "summary",
    "title",
    "tree",
    "usage",
    "work",
];

/// Those that a list leaves out, since they can be long.
const LEFT_OUT: [&str; 2] = ["originalPrompt", "scratchpad"];

/// A parsed format.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Format(Vec<Part>);

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// The path of a field: its name and those of fields within it.
    Field(Vec<String>),
}

impl Format {
    /// `{id} {usage.output}`; `{{` and `}}` stand for the braces themselves.
    pub(crate) fn parse(format: &str) -> Result<Self, CommandError> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = format;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, brace) = rest.split_at(at);
            text.push_str(before);
            if let Some(after) = brace.strip_prefix("{{").or_else(|| brace.strip_prefix("}}")) {
                text.push_str(&brace[..1]);
                rest = after;
                continue;
            }
            let field = brace.strip_prefix('{').and_then(|field| field.split_once('}'));
            let Some((field, after)) = field else {
                return Err(CommandError::usage(format!("the format has an unmatched brace: {brace}"))
                    .hinted("a field is {id}; for a brace itself, write {{ or }}"));
            };
            parts.push(Part::Text(std::mem::take(&mut text)));
            parts.push(Part::Field(known(field)?));
            rest = after;
        }
        if parts.is_empty() {
            return Err(CommandError::usage(format!("the format {format:?} names no field"))
                .hinted("a field is {id}, as in '{id} {status}'; for JSON: --json"));
        }
        text.push_str(rest);
        parts.push(Part::Text(text));
        Ok(Self(parts))
    }

    /// The line of a task, without its newline.
    pub(crate) fn line(&self, task: &AgentTask) -> Result<String, CommandError> {
        let task = serde_json::to_value(task)?;
        let mut line = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => line.push_str(text),
                Part::Field(path) => line.push_str(&shown(&task, path)?),
            }
        }
        Ok(line)
    }
}

/// The path of a field whose first name is known.
fn known(field: &str) -> Result<Vec<String>, CommandError> {
    let path: Vec<String> = field.split('.').map(str::to_owned).collect();
    match path.first() {
        Some(name) if LEFT_OUT.contains(&name.as_str()) => {
            Err(CommandError::usage(format!("a list of tasks has no {name}"))
                .hinted("abide show ID --json has it"))
        }
        Some(name) if FIELDS.contains(&name.as_str()) => Ok(path),
        _ => Err(unknown(field, &listed())),
    }
}

fn listed() -> Vec<&'static str> {
    FIELDS.into_iter().filter(|field| !LEFT_OUT.contains(field)).collect()
}

fn unknown(field: &str, fields: &[&str]) -> CommandError {
    CommandError::usage(format!("a task has no field {field:?}"))
        .hinted(format!("it has: {}", fields.join(", ")))
}

fn shown(task: &Value, path: &[String]) -> Result<String, CommandError> {
    let mut value = task;
    for name in path {
        value = match value {
            // An absent object has no fields; its line has an empty text there.
            Value::Null => return Ok(String::new()),
            Value::Object(fields) => fields.get(name).ok_or_else(|| {
                let names: Vec<&str> = fields.keys().map(String::as_str).collect();
                unknown(&path.join("."), &names)
            })?,
            _ => return Err(unknown(&path.join("."), &listed())),
        };
    }
    Ok(match value {
        Value::Null => String::new(),
        Value::String(words) => text::one_row(words),
        other => text::one_row(&other.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;

    fn line(format: &str) -> Result<String, CommandError> {
        Format::parse(format)?.line(&fixture::task())
    }

    #[test]
    fn fields_are_those_of_the_wire() {
        let Value::Object(task) = serde_json::to_value(fixture::task()).unwrap() else { panic!("no object") };
        assert_eq!(task.keys().map(String::as_str).collect::<Vec<_>>(), FIELDS);
    }

    #[test]
    fn a_line_has_what_the_task_has() {
        assert_eq!(
            line("{id}\t{status} {{{usage.input}}} {endReason}|{pending}|{endReason.x}.").unwrap(),
            "00000000-0000-0000-0000-000000000001\tthinking {1000} |[]|."
        );
    }

    #[test]
    fn a_format_without_a_known_field_is_an_error() {
        for (format, words) in [
            ("{colour}", "a task has no field \"colour\""),
            ("{}", "a task has no field \"\""),
            ("{usage.tokens}", "a task has no field \"usage.tokens\""),
            ("{id.x}", "a task has no field \"id.x\""),
            ("{id", "the format has an unmatched brace: {id"),
            ("id}", "the format has an unmatched brace: }"),
            ("{originalPrompt}", "a list of tasks has no originalPrompt"),
            ("json", "the format \"json\" names no field"),
            ("{{id}}", "the format \"{{id}}\" names no field"),
            ("", "the format \"\" names no field"),
        ] {
            let error = line(format).unwrap_err();
            assert_eq!((error.exit().code(), error.to_string().as_str()), (2, words), "{format}");
        }
    }

    #[test]
    fn field_text_cannot_move_the_cursor() {
        let hostile = AgentTask { error_message: Some("a\u{1b}[2J\nb".into()), ..fixture::task() };
        assert_eq!(Format::parse("{errorMessage}").unwrap().line(&hostile).unwrap(), "a\\x1b[2J\\nb");
    }
}
