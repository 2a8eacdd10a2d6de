//! The notice for a task whose last reply is cut or empty.

use crate::task::{Last, Task};
use abide_protocol::{
    record::{Notice, NoticeKind},
    task::{Incomplete, Mode},
};

/// The notice, if the task's last reply is cut or empty.
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
            let tools = match task.mode {
                // One that was started in auto had tools, and has them when it goes on.
                Mode::Chat if task.head.mode == Mode::Chat => {
                    " In mode chat it has no tools: for work that needs them, take mode agent."
                }
                _ => "",
            };
            format!(
                "The model ended without a word of an answer. Say “go on” to have it try again, or take another model.{tools}"
            )
        }
    };
    Some(Notice { about: NoticeKind::Incomplete, text })
}
