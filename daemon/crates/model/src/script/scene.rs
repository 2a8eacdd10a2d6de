//! The facts of a request that a script's conditions and templates use.

use super::file::{ScriptedReply, When};
use crate::request::ModelRequest;
use abide_protocol::transcript::{Entry, ResultEntry};
use serde_json::Value;
use std::borrow::Cow;

/// The longest text that a template inserts, in characters.
const MAX_INSERT: usize = 2_000;

pub(super) struct Scene<'a> {
    request: &'a ModelRequest,
    user: &'a str,
    /// Replies after a person's last message.
    pub(super) replies: usize,
    /// All replies.
    pub(super) replies_ever: usize,
    /// Results after a person's last message.
    results: Vec<&'a ResultEntry>,
    notes: Vec<&'a str>,
}

/// A note of a phase begins with this.
const PHASE: &str = "Phase: ";
/// The first phase of a task that sums up what its sub-tasks have reported.
const FIRST: &str = "Phase: clarify";
/// A note about the end of a sub-task begins with this.
const END: &str = "Sub-task ";

impl<'a> Scene<'a> {
    pub(super) fn of(request: &'a ModelRequest) -> Self {
        let mut scene =
            Self { request, user: "", replies: 0, replies_ever: 0, results: Vec::new(), notes: Vec::new() };
        for entry in request.transcript.entries() {
            match entry {
                Entry::User(text) => {
                    scene.user = text;
                    scene.replies = 0;
                    scene.results.clear();
                }
                Entry::Reply(_) => {
                    scene.replies += 1;
                    scene.replies_ever += 1;
                }
                Entry::Result(result) => scene.results.push(result),
                Entry::Results(results) => scene.results.extend(results),
                Entry::Note(note) => scene.notes.push(note),
                Entry::Partial(_) => {}
            }
        }
        scene
    }

    /// The first line that fits.
    pub(super) fn choose<'s>(&self, lines: &'s [ScriptedReply]) -> Option<&'s ScriptedReply> {
        lines.iter().find(|line| self.fits(&line.when))
    }

    fn fits(&self, when: &When) -> bool {
        let holds = |tool: &Option<String>, ok: bool| {
            tool.as_ref().is_none_or(|tool| self.result_of(tool).is_some_and(|result| result.ok == ok))
        };
        when.replies.is_none_or(|n| n == self.replies)
            && when.schema.as_ref().is_none_or(|name| {
                self.request.shape.output_schema.as_ref().is_some_and(|schema| schema.name == *name)
            })
            && when.offered.as_ref().is_none_or(|tool| self.request.tools.iter().any(|t| t.name == *tool))
            && holds(&when.succeeded, true)
            && holds(&when.failed, false)
            && when
                .noted
                .as_ref()
                .is_none_or(|words| self.notes.iter().any(|note| note.contains(words.as_str())))
            && when.phase.as_ref().is_none_or(|phase| self.is_in(phase))
            && when.says.as_ref().is_none_or(|words| self.user.contains(words.as_str()))
    }

    fn is_in(&self, phase: &str) -> bool {
        let begun = self.notes.iter().rev().find_map(|note| note.strip_prefix(PHASE));
        begun.and_then(|rest| rest.strip_prefix(phase)).is_some_and(|rest| rest.starts_with('.'))
    }

    /// What sub-tasks have reported at their ends, as a list.
    fn ends(&self) -> String {
        let begun = self.notes.iter().rposition(|note| note.starts_with(FIRST)).unwrap_or_default();
        let ends = self.notes.iter().skip(begun).filter(|note| note.starts_with(END));
        let reports = ends.filter_map(|note| note.split_once('\n')).map(|(_, report)| format!("- {report}"));
        reports.collect::<Vec<_>>().join("\n")
    }

    fn result_of(&self, tool: &str) -> Option<&'a ResultEntry> {
        self.results.iter().rfind(|result| result.tool == tool).copied()
    }

    /// A line's text and its JSON.
    pub(super) fn text(&self, line: &ScriptedReply) -> String {
        let text = self.fill(&line.text);
        match line.json.as_ref().map(|json| self.fill_value(json)) {
            None => text,
            Some(json) if text.is_empty() => json.to_string(),
            Some(json) => format!("{text}\n\n```json\n{json}\n```"),
        }
    }

    /// `text` with its templates filled in.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else { break };
            filled.push_str(before);
            let (name, other) = name.split_once('|').unwrap_or((name, ""));
            let value = self.value(name.trim()).unwrap_or_default();
            let value = if value.trim().is_empty() { other } else { value.trim() };
            filled.extend(value.chars().take(MAX_INSERT));
            rest = after;
        }
        filled.push_str(rest);
        filled
    }

    fn value(&self, name: &str) -> Option<Cow<'a, str>> {
        let result = match name {
            "user" => return Some(self.user.into()),
            "ends" => return Some(self.ends().into()),
            "answer" => {
                let asked = self.result_of("ask_user").or_else(|| self.result_of("request_input"));
                asked.filter(|answer| answer.ok)
            }
            "result" => self.results.last().copied(),
            _ => self.result_of(name.strip_prefix("result:")?),
        };
        // A result whose call the provider does not know names its tool in the first line.
        let own = |result: &'a ResultEntry| {
            result.text.strip_prefix(&format!("Result of {}:\n", result.tool)).unwrap_or(&result.text)
        };
        result.map(own).map(Cow::Borrowed)
    }

    /// `value` with the templates in its strings filled in. Inserted text stays within its string.
    pub(super) fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_value(item)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), self.fill_value(value))).collect()
            }
            other => other.clone(),
        }
    }
}
