//! A tool call in one line (state, tool, summary, result, duration), with its output below.

mod output;

pub(crate) use output::Extent;

use crate::output::{
    fold::hanging,
    measure,
    style::{BAD, BUSY, FAINT, GOOD, PLAIN, STRONG, paint},
    text,
};
use abide_client::protocol::{
    message::{CallOutcome, CallView, summary_without_tool},
    task::CallState,
};
use anstyle::Style;
use serde_json::Value;

/// The longest result in the line, in characters. The output is below it.
const MAX_RESULT: usize = 120;
const MAX_SUMMARY: usize = 160;
/// How far the other rows of a call's line are indented, in columns.
const OTHER_ROWS: usize = 2;
/// The least width of a call's tool and summary.
const MIN_HEAD: usize = 24;

/// The call's line with its output below, each line with its newline. `width` is the terminal's.
pub(crate) fn rendered(call: &CallView, extent: Extent, width: Option<usize>) -> String {
    format!("{}\n{}", line(call, width), output::below(call, extent, width))
}

/// A running call and the last lines of its output: at most `lines` lines of at most `columns` columns.
pub(crate) fn running(call: &CallView, output: &str, columns: usize, lines: usize) -> Vec<String> {
    let mut shown = vec![head(call, columns)];
    shown.extend(output::newest(output, columns, lines.saturating_sub(1)));
    shown.truncate(lines);
    shown
}

/// State, tool and summary.
fn head(call: &CallView, columns: usize) -> String {
    let (mark, style) = mark(call);
    let tool = text::one_line(&call.tool);
    let what = text::one_line(summary_without_tool(&call.tool, &call.summary));
    let room = columns.saturating_sub(text::width(mark) + text::width(&tool) + 2).min(MAX_SUMMARY);
    let what = text::fit(&what, room);
    let head = format!("{} {} {what}", paint(style, mark), paint(STRONG, &tool));
    head.trim_end().to_owned()
}

/// On one row of a terminal of `width` columns, if there is one and the result is not too long.
fn line(call: &CallView, width: Option<usize>) -> String {
    let mut rest = String::new();
    let said = said(call);
    if !said.is_empty() {
        rest.push_str(&format!(" → {}", text::fit(&said, MAX_RESULT)));
    }
    // When a call was interrupted is not known, only when that was found.
    let is_known = call.outcome != Some(CallOutcome::Interrupted);
    if let (Some(started), Some(ended), true) = (call.started_at, call.ended_at, is_known) {
        rest.push_str(&format!(" ({})", measure::took(ended.since(started))));
    }
    // If there is little room, the summary is cut before the result.
    let columns =
        width.map_or(usize::MAX, |width| width.saturating_sub(1 + text::width(&rest)).max(MIN_HEAD));
    let line = format!("{}{}", head(call, columns), paint(FAINT, &rest));
    match width {
        Some(width) => hanging(&line, width, OTHER_ROWS),
        None => line,
    }
}

fn mark(call: &CallView) -> (&'static str, Style) {
    match (call.state, call.outcome) {
        (CallState::Finished, Some(CallOutcome::Done)) if has_succeeded(call) => ("✓", GOOD),
        (CallState::Finished, Some(CallOutcome::Rejected | CallOutcome::Cancelled)) => ("–", FAINT),
        (CallState::Finished, _) => ("✗", BAD),
        (CallState::Running, _) => ("›", BUSY),
        (
            CallState::Queued
            | CallState::WaitingApproval
            | CallState::WaitingUser
            | CallState::WaitingChildren,
            _,
        ) => ("·", PLAIN),
    }
}

fn has_succeeded(call: &CallView) -> bool {
    call.result.as_ref().is_some_and(|result| result.ok)
}

fn said(call: &CallView) -> String {
    let why = match (call.state, call.outcome) {
        (CallState::Queued, _) => "waits for its turn",
        (CallState::WaitingApproval, _) => "waits for your approval",
        (CallState::WaitingUser, _) => "waits for your answer",
        (CallState::WaitingChildren, _) => "waits for sub-tasks",
        (CallState::Running, _) => "runs",
        (CallState::Finished, Some(CallOutcome::Rejected)) => "rejected",
        (CallState::Finished, Some(CallOutcome::Cancelled)) => "cancelled",
        (CallState::Finished, Some(CallOutcome::Refused)) => "refused",
        (CallState::Finished, Some(CallOutcome::Interrupted)) => "interrupted, effects unknown",
        // The mark alone says nothing to a screen reader.
        (CallState::Finished, Some(CallOutcome::Done) | None) if !has_succeeded(call) => "failed",
        (CallState::Finished, Some(CallOutcome::Done) | None) => "",
    };
    let result = call.result.as_ref().map(|result| result.message.as_str()).unwrap_or_default();
    let message = of_sub_tasks(call, result).unwrap_or_else(|| text::first_line(result));
    match (why.is_empty(), message.is_empty()) {
        (true, _) => message,
        (false, true) => why.to_owned(),
        (false, false) => format!("{why}: {message}"),
    }
}

/// The result of `fork` and `wait` in words: the handle, or each sub-task's handle and end. Their own form is
/// for the model.
fn of_sub_tasks(call: &CallView, result: &str) -> Option<String> {
    if !matches!(&*call.tool, "fork" | "wait") {
        return None;
    }
    let result: Value = serde_json::from_str(result).ok()?;
    let all = result.as_array().map_or_else(|| std::slice::from_ref(&result), Vec::as_slice);
    let words = |one: &Value| {
        let field = |name| one.get(name).and_then(Value::as_str);
        let end = field("endReason").map(|end| format!(" {}", end.replace('_', " "))).unwrap_or_default();
        Some(text::one_line(&format!("{}{end}", field("handle")?)))
    };
    let words: Option<Vec<String>> = all.iter().map(words).collect();
    words.map(|words| words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::transcript::ToolResult;

    fn plain(call: &CallView) -> String {
        anstream::adapter::strip_str(&line(call, None)).to_string()
    }

    #[test]
    fn forks_and_waits_are_told_in_words() {
        let of = |tool: &str, result: &str| {
            let result = Some(ToolResult::success(result.to_owned(), None));
            plain(&CallView { tool: tool.into(), summary: format!("{tool}: Go."), result, ..fixture::call() })
        };
        assert_eq!(of("fork", r#"{"handle":"4e1f5b20"}"#), "✓ fork Go. → 4e1f5b20 (12 ms)");
        let two = r#"[{"handle":"a","endReason":"completed","result":"x"},{"handle":"b","endReason":"step_limit"}]"#;
        assert_eq!(of("wait", two), "✓ wait Go. → a completed, b step limit (12 ms)");
        assert_eq!(of("wait", "There is none."), "✓ wait Go. → There is none. (12 ms)");
        assert_eq!(of("read", r#"{"handle":"a"}"#), "✓ read Go. → {\"handle\":\"a\"} (12 ms)");
    }

    #[test]
    fn a_control_call_has_a_line_only_if_it_was_refused() {
        let asks = CallView { tool: "ask_user".into(), ..fixture::call() };
        assert!(asks.is_control());
        assert!(!CallView { outcome: Some(CallOutcome::Refused), ..asks }.is_control());
    }

    #[test]
    fn a_call_is_one_line() {
        let call = fixture::call();
        assert_eq!(plain(&call), "✓ read src/main.rs → 120 lines (12 ms)");

        for summary in ["read src/main.rs", "read: src/main.rs"] {
            let named = CallView { summary: summary.into(), ..call.clone() };
            assert_eq!(plain(&named), plain(&call));
        }

        let failed = CallView { result: Some(ToolResult::failure("no such file")), ..call.clone() };
        assert_eq!(plain(&failed), "✗ read src/main.rs → failed: no such file (12 ms)");

        let rejected = CallView {
            outcome: Some(CallOutcome::Rejected),
            result: Some(ToolResult::failure("not now")),
            started_at: None,
            ..call.clone()
        };
        assert_eq!(plain(&rejected), "– read src/main.rs → rejected: not now");

        let long = CallView { summary: "a long summary that goes on".into(), ..call.clone() };
        let fitted = anstream::adapter::strip_str(&line(&long, Some(50))).to_string();
        assert_eq!(fitted, "✓ read a long summary that g… → 120 lines (12 ms)");

        let told = ToolResult::failure("one two three four five six seven eight nine ten");
        let long = CallView { result: Some(told), ..call.clone() };
        let broken = anstream::adapter::strip_str(&line(&long, Some(40))).to_string();
        assert_eq!(
            broken,
            "✗ read src/main.rs → failed: one two\n  three four five six seven eight nine\n  ten (12 ms)"
        );

        let interrupted = CallView {
            outcome: Some(CallOutcome::Interrupted),
            result: None,
            ended_at: None,
            ..call.clone()
        };
        assert_eq!(plain(&interrupted), "✗ read src/main.rs → interrupted, effects unknown");

        let waiting = CallView {
            state: CallState::WaitingApproval,
            outcome: None,
            result: None,
            ended_at: None,
            ..call
        };
        assert_eq!(plain(&waiting), "· read src/main.rs → waits for your approval");
    }

    #[test]
    fn a_hostile_result_stays_on_its_line() {
        let call = CallView {
            result: Some(ToolResult::success("\u{1b}[1A\u{1b}[2Kall fine\rx", None)),
            ..fixture::call()
        };
        let shown = plain(&call);
        assert!(!shown.contains(['\u{1b}', '\r', '\n']), "{shown:?}");
    }
}
