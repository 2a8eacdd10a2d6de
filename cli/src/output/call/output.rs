//! A call's output: a command's last lines, or all that its result keeps.

use crate::output::{
    measure,
    style::{FAINT, PLAIN, paint},
    text,
};
use abide_client::protocol::{
    JsonText,
    message::{CallOutcome, CallView},
};
use anstyle::Style;
use serde_json::Value;

/// The fields of a result that hold a command's output.
const STREAMS: [&str; 2] = ["stdout", "stderr"];

/// How many lines of a command's output are shown by default.
const TAIL: usize = 10;
/// The width of such a line without a terminal.
const MAX_COLUMNS: usize = 200;
const MARGIN: usize = 4;

/// How much of a call's output is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The last lines of a command's output, each cut at the terminal's width.
    #[default]
    Tail,
    /// All that the result of any tool keeps, uncut.
    Whole,
}

/// The lines below a finished call, each with its newline. `width` is the terminal's; `None` without one.
pub(super) fn below(call: &CallView, extent: Extent, width: Option<usize>) -> String {
    let output = kept(call, extent);
    let is_bad = call.result.as_ref().is_some_and(|result| !result.ok);
    let style = if is_bad { PLAIN } else { FAINT };
    match extent {
        Extent::Whole => text::indented(&output, MARGIN),
        Extent::Tail => tail(&output, width, style) + &notes(call, width),
    }
}

/// What is to be known of a command besides its output, each on one row.
fn notes(call: &CallView, width: Option<usize>) -> String {
    let is_command = |data: &JsonText| STREAMS.iter().any(|name| data.value().get(name).is_some());
    let result = call.result.iter().filter(|result| result.data.as_ref().is_some_and(is_command));
    let all: Vec<String> =
        result.flat_map(|result| &result.diagnostics).map(|note| format!("note: {note}")).collect();
    tail(&all.join("\n"), width, PLAIN)
}

/// The last lines of the output, each on one row.
fn tail(output: &str, width: Option<usize>, style: Style) -> String {
    let room = width.map_or(MAX_COLUMNS, |width| width.saturating_sub(MARGIN + 1)).max(1);
    let lines: Vec<&str> = output.trim_end().lines().collect();
    let hidden = lines.len().saturating_sub(TAIL);
    let margin = " ".repeat(MARGIN);
    let mut out = String::new();
    if hidden > 0 {
        let more = format!("… {} more: --output", measure::counted(hidden as u64, "line"));
        out.push_str(&format!("{margin}{}\n", paint(FAINT, &text::fit(&more, room))));
    }
    for line in &lines[hidden..] {
        let line = text::row(line);
        let line = text::fit(&line, room);
        out.push_str(if line.is_empty() { "" } else { &margin });
        out.push_str(&paint(style, &line));
        out.push('\n');
    }
    out
}

/// The last lines of a running command's output.
pub(super) fn newest(output: &str, columns: usize, lines: usize) -> Vec<String> {
    let all: Vec<&str> = output.trim_end().lines().collect();
    let newest = &all[all.len().saturating_sub(lines)..];
    let room = columns.saturating_sub(MARGIN).max(1);
    let margin = " ".repeat(MARGIN);
    newest
        .iter()
        .map(|line| format!("{margin}{}", paint(FAINT, &text::fit(&text::row(line), room))))
        .collect()
}

/// The output in a result, its fields joined.
fn kept(call: &CallView, extent: Extent) -> String {
    let Some(result) = &call.result else { return String::new() };
    let mut parts = Vec::new();
    // An interrupted command's output is in the message, after its first line.
    if call.outcome == Some(CallOutcome::Interrupted) || extent == Extent::Whole {
        parts.push(result.message.split_once('\n').map_or("", |(_, rest)| rest).to_owned());
    }
    let mut fields = match result.data.as_ref().map(JsonText::value) {
        Some(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    parts.extend(STREAMS.iter().filter_map(|name| match fields.remove(*name) {
        Some(Value::String(stream)) => Some(stream),
        _ => None,
    }));
    if extent == Extent::Whole {
        parts.extend(fields.into_iter().filter_map(|(_, field)| match field {
            Value::String(text) => Some(text),
            _ => None,
        }));
        parts.extend(result.diagnostics.iter().map(|note| format!("note: {note}")));
    }
    parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::transcript::ToolResult;
    use serde_json::json;

    fn shell(stdout: &str, stderr: &str) -> CallView {
        let data = json!({"stdout": stdout, "stderr": stderr, "exit_code": 3, "duration_ms": 1});
        let result = ToolResult { data: Some(data.into()), ..ToolResult::failure("exit code 3") };
        CallView { tool: "shell".into(), result: Some(result), ..fixture::call() }
    }

    fn plain(call: &CallView, extent: Extent, width: Option<usize>) -> String {
        anstream::adapter::strip_str(&below(call, extent, width)).to_string()
    }

    #[test]
    fn a_commands_last_lines_are_shown_and_the_rest_is_counted() {
        assert_eq!(
            plain(&shell("one\n\ttwo\n", "bad\n"), Extent::Tail, None),
            "    one\n            two\n    bad\n"
        );
        let long: String = (1..=222).map(|n| format!("line {n}\n")).collect();
        let shown = plain(&shell(&long, ""), Extent::Tail, None);
        assert!(shown.starts_with("    … 212 lines more: --output\n    line 213\n"), "{shown}");
        assert!(shown.ends_with("    line 222\n"), "{shown}");
        let whole = plain(&shell(&long, ""), Extent::Whole, None);
        assert!(whole.starts_with("    line 1\n    line 2\n") && whole.lines().count() == 222, "{whole}");
    }

    #[test]
    fn each_line_of_the_tail_stays_on_its_row() {
        let call = shell(&format!("{}\n日本語日本語\n10%\r100%\r\n", "x".repeat(500)), "");
        assert_eq!(plain(&call, Extent::Tail, Some(15)), "    xxxxxxxxx…\n    日本語日…\n    100%\n");
        for line in plain(&call, Extent::Tail, None).lines() {
            assert!(text::width(line) <= MARGIN + MAX_COLUMNS, "{line}");
        }
        assert!(plain(&call, Extent::Whole, Some(15)).contains(&"x".repeat(500)));
        assert!(plain(&call, Extent::Tail, Some(1)).starts_with("    …\n"));
    }

    #[test]
    fn only_commands_have_a_tail_and_all_tools_whole_output() {
        let data = json!({"content": "fn main() {}\n"});
        let result = ToolResult {
            diagnostics: vec!["cut after line 1".into()],
            ..ToolResult::success("main.rs, 1 line", Some(data.into()))
        };
        let read = CallView { result: Some(result), ..fixture::call() };
        assert_eq!(plain(&read, Extent::Tail, None), "");
        assert_eq!(plain(&read, Extent::Whole, None), "    fn main() {}\n    note: cut after line 1\n");
    }

    #[test]
    fn an_interrupted_command_shows_how_far_it_came() {
        let interrupted = CallView {
            outcome: Some(CallOutcome::Interrupted),
            result: Some(ToolResult::failure("Interrupted. Its output so far:\nhalf\n")),
            ..fixture::call()
        };
        assert_eq!(plain(&interrupted, Extent::Tail, None), "    half\n");
    }

    #[test]
    fn hostile_output_is_made_visible() {
        let call = shell("\u{1b}[2J\u{9b}31mred\u{202e}\n", "\u{1b}]0;x\u{7}");
        for extent in [Extent::Tail, Extent::Whole] {
            let shown = plain(&call, extent, Some(40));
            let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(shown.contains("red") && !shown.contains(bad), "{shown:?}");
        }
    }

    #[test]
    fn notes_are_always_shown() {
        let mut call = shell("one\n", "");
        if let Some(result) = &mut call.result {
            result.diagnostics = vec!["`.envrc` was taken away".to_owned()];
        }
        let shown = below(&call, Extent::Tail, Some(80));
        assert_eq!(shown, "    one\n    note: `.envrc` was taken away\n");
    }
}
