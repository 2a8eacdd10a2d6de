//! The text of notifications. It comes from models and tools, so it is cleaned, escaped and cut.

use super::{Notice, What};
use abide_client::text::visible_line;
use abide_protocol::task::{EndReason, Incomplete};

/// The longest summary, in characters.
const MAX_SUMMARY: usize = 120;
/// The longest body, in characters before escaping.
const MAX_BODY: usize = 400;

/// The first line: what happened, and in which conversation. Servers show it without markup.
pub(super) fn summary(notice: &Notice) -> String {
    let what = match &notice.what {
        What::Question(_) => "Question",
        What::Approval { .. } => "Approval needed",
        What::Ended { reason, incomplete, .. } => match reason {
            EndReason::Completed => match incomplete {
                None => "Completed",
                Some(Incomplete::Length) => "Incomplete, cut at the length limit",
                Some(Incomplete::Empty) => "Incomplete, an empty reply",
            },
            EndReason::Declined => "Completed: its question was declined",
            EndReason::StepLimit => "Step limit reached",
            EndReason::TimeLimit => "Time limit reached",
            EndReason::Stopped | EndReason::Deleted => "Cancelled",
            EndReason::QuestionTimeout => "Cancelled: its question was not answered in time",
            EndReason::Budget => "Cancelled at its budget",
            EndReason::Error => "Error",
            EndReason::ParentEnded => "Cancelled: the task above it ended",
        },
    };
    cut(&format!("{what}: {}", clean(&notice.title)), MAX_SUMMARY)
}

/// The other lines. Servers interpret markup in them.
pub(super) fn body(notice: &Notice) -> String {
    let text = match &notice.what {
        What::Question(text) => clean(text),
        What::Approval { tool, summary } => format!("{}: {}", clean(tool), clean(summary)),
        What::Ended { words, .. } => words.as_deref().map(clean).unwrap_or_default(),
    };
    let of = notice.sub_task.as_deref().map(|title| format!("Sub-task {}: ", clean(title)));
    escape(&cut(&format!("{}{text}", of.unwrap_or_default()), MAX_BODY))
}

/// The text on one line, with invisible characters escaped.
fn clean(text: &str) -> String {
    // More than could be shown is not examined.
    let some: String = text.chars().take(4 * MAX_BODY).collect();
    let words: Vec<&str> = some.split_whitespace().collect();
    visible_line(&words.join(" ")).into_owned()
}

fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(max - 1).collect();
    short.push('…');
    short
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
