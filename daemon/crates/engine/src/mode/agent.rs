//! `agent`: works with tools until the model calls `task_complete`.

use super::Action;
use crate::task::{Last, Task};
use abide_protocol::transcript::StopReason;

/// After this many replies in a row with text and no call the task ends with that text.
const TEXT_STREAK: u32 = 3;

/// After this many replies in a row cut at the length limit the task ends: asking again would not help.
const CUT_STREAK: u32 = 3;

const GO_ON: &str = "You replied without calling a tool. If everything is done, call `task_complete` with a summary; \
    if you need something from the user, call `ask_user`; otherwise go on with the work.";
const CUT: &str =
    "Your last reply was cut at the length limit; a tool call in it was dropped. Go on, in smaller pieces.";

pub(super) fn next(task: &Task) -> Action {
    match &task.last {
        Last::Start | Last::Nudged | Last::Results { complete: None } => Action::Think { phase: None },
        Last::Results { complete: Some(summary) } => Action::Finish { summary: Some(summary.clone()) },
        Last::Text { stop: StopReason::Refusal, .. } => Action::Refused,
        Last::Text { text, stop: StopReason::Length, .. } if task.cut_streak >= CUT_STREAK => finish(text),
        Last::Text { stop: StopReason::Length, .. } => Action::Nudge(CUT),
        Last::Text { text, .. } if task.text_streak >= TEXT_STREAK => finish(text),
        Last::Text { .. } => Action::Nudge(GO_ON),
    }
}

/// Finishes with the text as the summary, if there is any.
fn finish(text: &str) -> Action {
    Action::Finish { summary: Some(text.to_owned()).filter(|text| !text.trim().is_empty()) }
}
