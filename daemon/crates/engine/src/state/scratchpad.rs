//! A summary of what a task has learnt, one line each. Derived on request, never stored.

use crate::mode::control;
use abide_protocol::{
    Timestamp,
    message::{CallView, Message},
};

/// The newest lines; older ones are left out.
pub const LINES: usize = 200;
/// The most characters of a line.
const LINE: usize = 200;

/// A line for each answer of a person and each tool result, in order. `calls` and `answers` are the task's
/// own. (Control calls are left out: their results are the engine's own words or an answer.)
#[must_use]
pub fn scratchpad(calls: &[CallView], answers: &[Message]) -> Vec<String> {
    let answers = answers.iter().map(|answer| (answer.at, Line::Answer(answer)));
    let results = calls.iter().filter(|call| !control::is_control(&call.tool));
    let results = results.filter_map(|call| Some((call.ended_at?, Line::Result(call))));
    let mut lines: Vec<(Timestamp, Line<'_>)> = results.chain(answers).collect();
    lines.sort_by_key(|(at, _)| *at);
    let older = lines.len().saturating_sub(LINES);
    lines.iter().skip(older).map(|(_, line)| line.text()).collect()
}

enum Line<'a> {
    Answer(&'a Message),
    Result(&'a CallView),
}

impl Line<'_> {
    fn text(&self) -> String {
        match self {
            Self::Answer(answer) => one_line(&format!("User answered: {}", answer.text)),
            Self::Result(call) => {
                let result = call.result.as_ref().map(|result| result.text()).unwrap_or_default();
                result_line(&call.tool, &result)
            }
        }
    }
}

/// A call's result on one line.
pub(crate) fn result_line(tool: &str, result: &str) -> String {
    one_line(&format!("Tool {tool}: {result}"))
}

/// The text on one line: white space and control characters become single spaces, and it is cut at [`LINE`]
/// characters.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    let is_space = |c: char| c.is_whitespace() || c.is_control();
    for (n, word) in text.split(is_space).filter(|word| !word.is_empty()).enumerate() {
        if n > 0 {
            line.push(' ');
        }
        line.push_str(word);
        // A single word may be as long as the text.
        if let Some((cut, _)) = line.char_indices().nth(LINE) {
            line.truncate(cut);
            line.pop();
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_protocol::{
        CallId, ConversationId, RecordId, Seq, TaskId,
        message::{CallOutcome, MessageKind, Role},
        record::Permission,
        task::CallState,
        transcript::ToolResult,
    };
    use uuid::Uuid;

    fn call(tool: &str, ended_at: Option<i64>, result: ToolResult) -> CallView {
        CallView {
            call_id: CallId(Uuid::nil()),
            seq: Seq(1),
            conversation_id: ConversationId(Uuid::nil()),
            task_id: TaskId(Uuid::nil()),
            tool: tool.to_owned(),
            summary: String::new(),
            arguments: "{}".to_owned(),
            preview: None,
            state: CallState::Finished,
            attempt: 1,
            started_at: None,
            ended_at: ended_at.map(Timestamp),
            outcome: ended_at.map(|_| CallOutcome::Done),
            result: ended_at.map(|_| result),
            permission: Permission::Ask,
        }
    }

    fn answer(at: i64, text: &str) -> Message {
        Message {
            id: RecordId(Uuid::nil()),
            seq: Seq(1),
            conversation_id: ConversationId(Uuid::nil()),
            task_id: None,
            at: Timestamp(at),
            role: Role::User,
            kind: MessageKind::Answer,
            text: text.to_owned(),
            reasoning: None,
            question_id: None,
        }
    }

    /// Name, calls, answers, expected lines.
    type Row<'a> = (&'a str, Vec<CallView>, Vec<Message>, Vec<&'a str>);

    fn ok(message: &str) -> ToolResult {
        ToolResult::success(message, None)
    }

    #[test]
    fn a_line_for_each_result_and_answer() {
        let long = "x".repeat(500);
        let cut = format!("Tool read: {}…", "x".repeat(LINE - "Tool read: …".chars().count()));
        let whole = "é".repeat(LINE - "Tool read: ".len());
        let not_cut = format!("Tool read: {whole}");
        let table: [Row<'_>; 8] = [
            ("nothing yet", vec![], vec![], vec![]),
            ("a call that runs", vec![call("shell", None, ok(""))], vec![], vec![]),
            (
                "in the order in which they came",
                vec![call("read", Some(3), ok("third")), call("shell", Some(1), ok("first"))],
                vec![answer(2, "second")],
                vec!["Tool shell: first", "User answered: second", "Tool read: third"],
            ),
            (
                "a failure",
                vec![call("shell", Some(1), ToolResult::failure("exit code 3"))],
                vec![],
                vec!["Tool shell: error: exit code 3"],
            ),
            (
                "control calls are left out",
                vec![
                    call("ask_user", Some(1), ok("blue")),
                    call("request_input", Some(1), ok("blue")),
                    call("send_update", Some(1), ok("The user has been told.")),
                    call("task_complete", Some(1), ok("The task is complete.")),
                ],
                vec![answer(1, "blue")],
                vec!["User answered: blue"],
            ),
            (
                "one line",
                vec![call("shell", Some(1), ok("a\n\n b\u{1b}[31m\tc "))],
                vec![answer(2, "two\nlines")],
                vec!["Tool shell: a b [31m c", "User answered: two lines"],
            ),
            ("cut", vec![call("read", Some(1), ok(&long))], vec![], vec![&cut]),
            ("just not cut", vec![call("read", Some(1), ok(&whole))], vec![], vec![&not_cut]),
        ];
        for (name, calls, answers, expected) in table {
            assert_eq!(scratchpad(&calls, &answers), expected, "{name}");
        }
    }

    #[test]
    fn the_newest_lines_are_kept() {
        let calls: Vec<_> = (0..500).map(|n| call("read", Some(n), ok(&format!("{n}")))).collect();
        let lines = scratchpad(&calls, &[answer(499, "last")]);
        assert_eq!(lines.len(), LINES);
        assert_eq!(lines[0], "Tool read: 301");
        assert_eq!(lines[LINES - 2..], ["Tool read: 499", "User answered: last"]);
    }
}
