//! The notice for a task whose last reply is incomplete: cut, broken off, empty, or without the calls that it
//! was to have.

use crate::{
    mode::{rules::Last, task_mode::has_tools},
    state::task::Task,
};
use abide_protocol::{
    record::{Notice, NoticeKind},
    task::Incomplete,
};

/// The notice, if the task's last reply is incomplete.
pub(crate) fn notice(task: &Task) -> Option<Notice> {
    let text = match task.incomplete()? {
        Incomplete::Length => {
            let (text, tokens) = match &task.last {
                Last::Text { text, output, .. } => (text.trim(), *output),
                _ => ("", 0),
            };
            let what = if text.is_empty() { "The model came to" } else { "The reply is cut: it came to" };
            let before = if text.is_empty() { " before it said anything" } else { "" };
            let limit = if tokens > 0 { format!(" ({tokens} tokens)") } else { String::new() };
            format!(
                "{what} the length limit of one reply{limit}{before}. For the rest say “go on”; if that does not help, ask for \
                 less at a time, or take a model with a larger limit."
            )
        }
        Incomplete::Empty => {
            let mode = task.head.mode;
            let tools = if has_tools(mode) {
                String::new()
            } else {
                let mode = mode.name();
                format!(" In mode {mode} it has no tools: for work that needs them, take mode agent.")
            };
            format!(
                "The model ended without a word of an answer. Say “go on” to have it try again, or take another model.{tools}"
            )
        }
        Incomplete::Unfinished => "The provider broke the reply off before its end. Say “go on” to have the model try again, or take another model."
            .to_owned(),
        Incomplete::LostCalls => "The model meant to call a tool, but its call was written as text in a form that is not read, names a tool that it \
                                  does not have, or was lost on the way. Nothing of it was carried out. If the model runs on a server of your \
                                  own, turn on the server's tool parser for it (of vLLM: `--enable-auto-tool-choice --tool-call-parser`; of \
                                  llama.cpp: `--jinja`); or take mode plan, which needs no tool calls, or another model."
            .to_owned(),
    };
    Some(Notice { about: NoticeKind::Incomplete, text })
}
