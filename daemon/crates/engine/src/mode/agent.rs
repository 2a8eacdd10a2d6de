//! `agent`: works with tools until the model calls `task_complete`.

use super::{Action, Answer, Rules};
use crate::{
    control::{ASK_USER, FORK, SEND_UPDATE, TASK_COMPLETE, TELL, WAIT},
    task::{Last, Task},
};
use abide_protocol::transcript::StopReason;

/// After this many replies in a row with text and no call the task ends with that text.
pub(super) const TEXT_STREAK: u32 = 3;

/// After this many replies in a row cut at the length limit the task ends: asking again would not help.
pub(super) const CUT_STREAK: u32 = 3;

pub(super) const GO_ON: &str = "You replied without calling a tool. If everything is done, call `task_complete` with a summary; \
    if you need something from the user, call `ask_user`; otherwise go on with the work.";
pub(super) const CUT: &str =
    "Your last reply was cut at the length limit; a tool call in it was dropped. Go on, in smaller pieces.";

pub(super) const CONTROL_TOOLS: &[&str] = &[TASK_COMPLETE, ASK_USER, SEND_UPDATE, FORK, WAIT, TELL];

pub(super) struct Agent;

impl Rules for Agent {
    fn next(&self, task: &Task) -> Action {
        match &task.last {
            Last::Start | Last::Nudged | Last::Results { complete: None } => Action::Think(None),
            Last::Results { complete: Some(summary) } => Action::Finish(Answer::of(task, summary)),
            Last::Text { stop: StopReason::Refusal, .. } => Action::Refused,
            Last::Text { text, stop: StopReason::Length, .. } if task.cut_streak >= CUT_STREAK => {
                Action::Finish(Answer::of(task, text))
            }
            Last::Text { stop: StopReason::Length, .. } => Action::Nudge(CUT),
            Last::Text { text, .. } if task.text_streak >= TEXT_STREAK => {
                Action::Finish(Answer::of(task, text))
            }
            Last::Text { .. } => Action::Nudge(GO_ON),
        }
    }

    fn control_tools(&self) -> &'static [&'static str] {
        CONTROL_TOOLS
    }
}
