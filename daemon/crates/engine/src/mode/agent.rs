//! `agent`: works with tools until the model calls `task_complete`.

use super::{Action, Answer, Rules};
use crate::{
    mode::control::{ASK_USER, FORK, SEND_UPDATE, TASK_COMPLETE, TELL, WAIT},
    state::task::{Last, Task},
};
use abide_protocol::transcript::StopReason;

/// After this many replies in a row with text and no call the task ends with the first text.
const TEXT_STREAK: u32 = 2;

/// After this many empty replies in a row the task ends.
const EMPTY_STREAK: u32 = 3;

/// After this many replies in a row that were cut or broken off the task ends: asking again would not help.
pub(super) const CUT_STREAK: u32 = 3;

/// After this many replies in a row whose calls are lost the task ends: the model was told.
const LOST_STREAK: u32 = 2;

const GO_ON: &str = "You replied without calling a tool. Text alone does not end the task, so nothing has happened. If everything is \
    done, call `task_complete` with a summary; if you need something from the user, call `ask_user`; otherwise go on with the work. \
    After another reply without a call the task ends.";
const EMPTY: &str = "Your last reply was empty: no text came, and no tool call. Go on with the work, or say what you have found out.";
const CUT: &str =
    "Your last reply was cut at the length limit; a tool call in it was dropped. Go on, in smaller pieces.";
const UNFINISHED: &str = "Your last reply was broken off by the provider before its end; a tool call in it was dropped. Go on where it ended.";
const LOST: &str = "You meant to call a tool, but no call came, so nothing was carried out: the call is written in your text in a form \
    that is not read, names a tool that you do not have, or was lost. Call tools as tool calls, not in your text: each by its name, \
    with its arguments as one JSON object. Put into a code block what you only want to quote. If it happens again, the task ends.";

pub(super) const CONTROL_TOOLS: &[&str] = &[TASK_COMPLETE, ASK_USER, SEND_UPDATE, FORK, WAIT, TELL];

pub(super) struct Agent;

impl Rules for Agent {
    fn next(&self, task: &Task) -> Action {
        match &task.last {
            Last::Start | Last::Nudged | Last::Results { complete: None } => Action::Think(None),
            Last::Results { complete: Some(summary) } => Action::Finish(Answer::of(task, summary)),
            Last::Text { stop: StopReason::Refusal, .. } => Action::Refused,
            Last::Text { text, stop, .. } => match after_text(task, text, *stop) {
                AfterText::Nudge(words) => Action::Nudge(words),
                AfterText::End(answer) => Action::Finish(answer),
            },
        }
    }

    fn control_tools(&self) -> &'static [&'static str] {
        CONTROL_TOOLS
    }
}

/// What follows a reply without a call.
pub(super) enum AfterText {
    /// The model is told why it did not end the task.
    Nudge(&'static str),
    End(Answer),
}

/// What follows a reply with this text that ended so.
pub(super) fn after_text(task: &Task, text: &str, stop: StopReason) -> AfterText {
    let uncalled = &task.uncalled;
    let (streak, most, words) = match stop {
        StopReason::Length => (uncalled.cut, CUT_STREAK, CUT),
        StopReason::Unfinished => (uncalled.cut, CUT_STREAK, UNFINISHED),
        StopReason::LostCalls => (uncalled.lost, LOST_STREAK, LOST),
        StopReason::EndTurn | StopReason::ToolCalls | StopReason::Refusal if text.trim().is_empty() => {
            (uncalled.texts, EMPTY_STREAK, EMPTY)
        }
        StopReason::EndTurn | StopReason::ToolCalls | StopReason::Refusal => {
            (uncalled.texts, TEXT_STREAK, GO_ON)
        }
    };
    if streak < most {
        return AfterText::Nudge(words);
    }
    AfterText::End(match stop {
        StopReason::Length | StopReason::Unfinished => Answer::of(task, text),
        // Its markup is no answer.
        StopReason::LostCalls => Answer::default(),
        StopReason::EndTurn | StopReason::ToolCalls | StopReason::Refusal => {
            Answer::said(&uncalled.first_text)
        }
    })
}
