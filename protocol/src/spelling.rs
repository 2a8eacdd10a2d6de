//! What a model means that does not spell a tool's name or JSON quite right.
//!
//! Nothing is guessed: a name that could mean two tools means none, and JSON that is cut is not completed.

use crate::transcript::ToolSpec;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What models put before the name of a tool.
const PREFIXES: &[&str] = &["functions.", "tools.", "default_api."];
const FENCE: &str = "```";

/// The tool of this name: blanks around it, a prefix such as `functions.`, a rest such as
/// `<|channel|>commentary`, and case do not matter, if only one tool can be meant.
#[must_use]
pub fn tool<'t>(tools: &'t [ToolSpec], name: &str) -> Option<&'t ToolSpec> {
    let exact = |name: &str| tools.iter().find(|tool| tool.name == name);
    if let Some(tool) = exact(name) {
        return Some(tool);
    }
    let name = bare(name);
    exact(name).or_else(|| {
        let mut alike = tools.iter().filter(|tool| tool.name.eq_ignore_ascii_case(name));
        alike.next().filter(|_| alike.next().is_none())
    })
}

fn bare(name: &str) -> &str {
    let name = name.split("<|").next().unwrap_or_default().trim();
    PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// The object or list that the text begins with, as JSON, and the text behind it. In its strings there may be
/// newlines and other control characters as they are, and a comma may follow its last value. `None`: it is
/// something else, or its end is missing.
#[must_use]
pub fn json(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let (value, rest) = text.split_at(end_of_json(text)?);
    let is_json = |value: &str| serde_json::from_str::<&RawValue>(value).is_ok();
    if is_json(value) {
        return Some((Cow::Borrowed(value), rest));
    }
    let value = mended(value);
    is_json(&value).then_some((Cow::Owned(value), rest))
}

/// Where the object or list ends that the text begins with.
fn end_of_json(text: &str) -> Option<usize> {
    text.starts_with(['{', '[']).then_some(())?;
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 1 => return Some(at + 1),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// JSON with the control characters in its strings escaped, and without commas that no value follows.
fn mended(json: &str) -> String {
    let (mut escaped, mut in_string, mut is_escaped) = (String::with_capacity(json.len()), false, false);
    for c in json.chars() {
        match c {
            c if in_string && c.is_ascii_control() => {
                let written = serde_json::Value::from(c.to_string()).to_string();
                escaped.push_str(written.trim_matches('"'));
                is_escaped = false;
                continue;
            }
            _ if is_escaped => is_escaped = false,
            '\\' if in_string => is_escaped = true,
            '"' => in_string = !in_string,
            '}' | ']' if !in_string => {
                let kept = escaped.trim_end();
                let kept = kept.strip_suffix(',').unwrap_or(kept).len();
                escaped.truncate(kept);
            }
            _ => {}
        }
        escaped.push(c);
    }
    escaped
}

/// What is within the code fence that the whole text is; a text that is none is returned as it is.
#[must_use]
pub fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix(FENCE).and_then(|open| open.strip_suffix(FENCE));
    let Some((label, inside)) = inside.and_then(|inside| inside.split_once('\n')) else { return text };
    let is_label = label.trim().chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_label && !inside.contains(FENCE) { inside.trim() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        JsonText,
        transcript::{EffectClass, Risk, Tier},
    };

    fn tools(names: &[&str]) -> Vec<ToolSpec> {
        let tool = |name: &&str| ToolSpec {
            name: (*name).to_owned(),
            description: String::new(),
            parameters: JsonText::empty(),
            effect: EffectClass::Pure,
            risk: Risk::Low,
            tier: Tier::Allow,
        };
        names.iter().map(tool).collect()
    }

    #[test]
    fn a_name_means_the_only_tool_that_it_can_mean() {
        let tools = tools(&["read", "Write", "write", "task_complete"]);
        for (name, meant) in [
            ("read", Some("read")),
            ("Read", Some("read")),
            (" read\n", Some("read")),
            ("functions.read", Some("read")),
            ("tools.READ", Some("read")),
            ("default_api.task_complete", Some("task_complete")),
            ("read<|channel|>commentary", Some("read")),
            ("functions.read<|constrain|>json", Some("read")),
            ("write", Some("write")),
            ("WRITE", None),
            ("reads", None),
            ("my.read", None),
            ("functions.", None),
            ("", None),
        ] {
            assert_eq!(tool(&tools, name).map(|tool| tool.name.as_str()), meant, "{name:?}");
        }
    }

    #[test]
    fn json_is_read_up_to_its_end_and_never_completed() {
        for (text, read) in [
            (r#"{"a": 1.50}, so"#, Some((r#"{"a": 1.50}"#, ", so"))),
            (r#"[{"a":"}]"}]}"#, Some((r#"[{"a":"}]"}]"#, "}"))),
            ("{\"a\":\"x\ny\tz\\\"\"}", Some((r#"{"a":"x\ny\tz\""}"#, ""))),
            (r#"{"a":[1, 2,], "b": ",}",}"#, Some((r#"{"a":[1, 2], "b": ",}"}"#, ""))),
            ("{\"a\":\"\u{1}\"}", Some((r#"{"a":"\u0001"}"#, ""))),
            (r#"{"a":"x"#, None),
            (r#"{"a":[1}"#, None),
            ("{a: 1}", None),
            ("7", None),
            ("", None),
        ] {
            let json = json(text);
            assert_eq!(json.as_ref().map(|(value, rest)| (value.as_ref(), *rest)), read, "{text:?}");
        }
    }

    #[test]
    fn a_fence_is_taken_off_that_is_the_whole_text() {
        for (text, inside) in [
            ("```json\n{}\n```", "{}"),
            (" ```\n[1]\n``` ", "[1]"),
            ("```json\n{}\n```\nSo.", "```json\n{}\n```\nSo."),
            ("```\na\n```\n```\nb\n```", "```\na\n```\n```\nb\n```"),
            ("{}", "{}"),
        ] {
            assert_eq!(unfenced(text), inside, "{text:?}");
        }
    }
}
