//! How far a task is: its phase, and the replies without calls since that began.

use super::rules::{Answer, Facts};
use abide_protocol::{record::RecordBody, task::Phase, transcript::StopReason};

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

/// The phase that began last, and the replies without calls since then, or since the newest reply with calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// `None` in a mode without phases, before the first phase, and if new instructions have ended the phase.
    pub(super) phase: Option<Phase>,
    /// The replies that the model ended itself.
    pub(super) texts: u32,
    /// The first text of those that is not blank.
    first_text: String,
    /// The newest replies, cut at the length limit or broken off by the provider.
    pub(super) cut: u32,
    /// The replies whose calls were lost.
    lost: u32,
}

/// What follows a reply without a call.
pub(super) enum AfterText {
    /// The model is told why it did not end the task.
    Nudge(&'static str),
    End(Answer),
}

impl Progress {
    pub(super) fn fold(&mut self, record: &RecordBody) {
        match record {
            RecordBody::PhaseBegan(began) if self.phase != Some(began.phase) => {
                *self = Self { phase: Some(began.phase), ..Self::default() };
            }
            RecordBody::Reply(reply) if reply.calls().next().is_some() => {
                *self = Self { phase: self.phase, ..Self::default() };
            }
            RecordBody::Reply(reply) => match reply.reply.stop_reason {
                StopReason::Length | StopReason::Unfinished => self.cut += 1,
                StopReason::LostCalls => {
                    self.lost += 1;
                    self.cut = 0;
                }
                StopReason::EndTurn | StopReason::ToolCalls | StopReason::Refusal => {
                    self.texts += 1;
                    self.cut = 0;
                    if self.first_text.trim().is_empty() {
                        self.first_text = reply.shown();
                    }
                }
            },
            _ => {}
        }
    }

    /// What follows the newest reply, which has this text and ended so.
    pub(super) fn after_text(&self, facts: &Facts<'_>, text: &str, stop: StopReason) -> AfterText {
        let (streak, most, words) = match stop {
            StopReason::Length => (self.cut, CUT_STREAK, CUT),
            StopReason::Unfinished => (self.cut, CUT_STREAK, UNFINISHED),
            StopReason::LostCalls => (self.lost, LOST_STREAK, LOST),
            StopReason::EndTurn | StopReason::ToolCalls | StopReason::Refusal if text.trim().is_empty() => {
                (self.texts, EMPTY_STREAK, EMPTY)
            }
            StopReason::EndTurn | StopReason::ToolCalls | StopReason::Refusal => {
                (self.texts, TEXT_STREAK, GO_ON)
            }
        };
        if streak < most {
            return AfterText::Nudge(words);
        }
        AfterText::End(match stop {
            StopReason::Length | StopReason::Unfinished => Answer::of(facts, text),
            // Its markup is no answer.
            StopReason::LostCalls => Answer::default(),
            StopReason::EndTurn | StopReason::ToolCalls | StopReason::Refusal => {
                Answer::seen(&self.first_text)
            }
        })
    }
}
