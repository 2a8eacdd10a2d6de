//! A call's result, as its card shows it.

use crate::words;
use abide_client::protocol::{
    JsonText,
    message::{CallOutcome, CallView},
    transcript::ToolResult,
};
use abide_host::text::visible_line;
use serde_json::{Map, Value};

/// A program's output, then its stderr; of other tools the text that the model reads. Before a program's
/// output is what became of it, unless that is `head`, which the line above shows already.
#[must_use]
pub(super) fn told(call: &CallView, result: &ToolResult, head: &str) -> (Option<String>, String) {
    match result.data.as_ref().map(JsonText::value) {
        Some(Value::Object(fields)) if fields.contains_key("exit_code") => {
            let message = Some(result.message.clone()).filter(|words| !words.is_empty() && words != head);
            let notes = result.diagnostics.iter().map(|note| format!("note: {note}"));
            (message, written(&fields).into_iter().chain(notes).collect::<Vec<_>>().join("\n"))
        }
        // A rejection by a person is no error.
        None if call.outcome == Some(CallOutcome::Rejected) => (None, result.message.clone()),
        _ => (None, result.text()),
    }
}

/// The same as one text.
#[must_use]
pub(super) fn told_whole(call: &CallView, result: &ToolResult, head: &str) -> String {
    let (message, text) = told(call, result, head);
    let parts = [message, Some(text).filter(|text| !text.is_empty())];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// The result of `fork` and `wait` in words: its own form is for the model, and the sub-tasks' own lines have
/// the rest.
#[must_use]
pub(super) fn of_sub_tasks(call: &CallView, result: &ToolResult) -> Option<String> {
    if !matches!(&*call.tool, "fork" | "wait") {
        return None;
    }
    let result: Value = serde_json::from_str(&result.message).ok()?;
    if call.tool == "fork" {
        let handle = result.get("handle")?.as_str()?;
        return Some(format!("sub-task {}", visible_line(handle)));
    }
    let all = result.as_array().map_or_else(|| std::slice::from_ref(&result), Vec::as_slice);
    let ended = all.iter().filter(|one| one.get("endReason").is_some()).count();
    all.iter().all(|one| one.get("handle").is_some()).then(|| match (ended, all.len()) {
        (ended, all) if ended == all => format!("{} ended", words::counted(all as u64, "sub-task")),
        (ended, all) => format!("{ended} of {} ended", words::counted(all as u64, "sub-task")),
    })
}

/// The line above has the exit code and the time.
fn written(fields: &Map<String, Value>) -> Vec<String> {
    let stream = |name: &str| {
        let text = fields.get(name)?.as_str()?.trim_end_matches('\n');
        (!text.is_empty()).then(|| text.to_owned())
    };
    match (stream("stdout"), stream("stderr")) {
        (Some(out), Some(complaints)) => vec![out, "stderr:".to_owned(), complaints],
        (out, complaints) => out.into_iter().chain(complaints).collect(),
    }
}
