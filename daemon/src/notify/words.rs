//! What a notification says. Its text comes from models and tools: it is cleaned, escaped and cut.

use super::{Notice, What};
use abide_client::text::visible_line;
use abide_protocol::task::{EndReason, Incomplete};

/// Characters of a summary.
const MAX_SUMMARY: usize = 120;
/// Characters of a body, before it is escaped.
const MAX_BODY: usize = 400;

/// The first line: what happened, and in which conversation. Servers show it as it is.
pub(super) fn summary(notice: &Notice) -> String {
    let what = match &notice.what {
        What::Question(_) => "Question",
        What::Approval { .. } => "Approval needed",
        What::Ended { reason, incomplete, .. } => match reason {
            EndReason::Completed => match incomplete {
                None => "Completed",
                Some(Incomplete::Length) => "Completed, cut at the length limit",
                Some(Incomplete::Empty) => "Completed with an empty reply",
            },
            EndReason::StepLimit => "Completed at its step limit",
            EndReason::TimeLimit => "Completed at its time limit",
            EndReason::Stopped | EndReason::Deleted => "Cancelled",
            EndReason::QuestionTimeout => "Cancelled: its question was not answered in time",
            EndReason::Budget => "Cancelled at its budget",
            EndReason::Error => "Error",
            EndReason::ParentEnded => "Cancelled: the task above it ended",
        },
    };
    cut(&format!("{what}: {}", clean(&notice.title)), MAX_SUMMARY)
}

/// The rest. Servers read markup in it.
pub(super) fn body(notice: &Notice) -> String {
    let text = match &notice.what {
        What::Question(text) => clean(text),
        What::Approval { tool, summary } => format!("{}: {}", clean(tool), clean(summary)),
        What::Ended { words, .. } => words.as_deref().map(clean).unwrap_or_default(),
    };
    escape(&cut(&text, MAX_BODY))
}

/// One line, with nothing in it that is not seen as it is.
fn clean(text: &str) -> String {
    // No more is looked at than can be shown.
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
