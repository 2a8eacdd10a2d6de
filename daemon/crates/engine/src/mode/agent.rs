//! `agent`: works with tools until the model calls `task_complete`.

use super::{
    control::{ASK_USER, FORK, SEND_UPDATE, TASK_COMPLETE, TELL, WAIT},
    rules::{Action, Answer, Facts, Last, Rules, Table},
};
use abide_protocol::{record::RecordBody, transcript::StopReason};

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

pub(super) const TABLE: Table = Table {
    prompt: Some(include_str!("prompt/agent.md")),
    control_tools: &[TASK_COMPLETE, ASK_USER, SEND_UPDATE, FORK, WAIT, TELL],
    shares_step_limit: true,
    ..Table::USUAL
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Agent {
    uncalled: Uncalled,
}

impl Rules for Agent {
    fn table(&self) -> &'static Table {
        &TABLE
    }

    fn fold(&mut self, record: &RecordBody, _: &Last) {
        self.uncalled.fold(record);
    }

    fn next(&self, facts: &Facts<'_>) -> Action {
        match facts.last {
            Last::Start | Last::Nudged | Last::Results { complete: None } => Action::Think(None),
            Last::Results { complete: Some(summary) } => Action::Finish(Answer::of(facts, summary)),
            Last::Text { stop: StopReason::Refusal, .. } => Action::Refused,
            Last::Text { text, stop, .. } => match self.uncalled.after_text(facts, text, *stop) {
                AfterText::Nudge(words) => Action::Nudge(words),
                AfterText::End(answer) => Action::Finish(answer),
            },
        }
    }
}

/// What follows a reply without a call.
pub(super) enum AfterText {
    /// The model is told why it did not end the task.
    Nudge(&'static str),
    End(Answer),
}

/// The replies without calls since the newest one with calls, or since the phase began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Uncalled {
    /// Those that the model ended itself.
    pub(super) texts: u32,
    /// The first text of those that is not blank.
    first_text: String,
    /// The newest ones, cut at the length limit or broken off by the provider.
    pub(super) cut: u32,
    /// Those whose calls were lost.
    lost: u32,
}

impl Uncalled {
    pub(super) fn fold(&mut self, record: &RecordBody) {
        let RecordBody::Reply(reply) = record else { return };
        if reply.calls().next().is_some() {
            *self = Self::default();
            return;
        }
        match reply.reply.stop_reason {
            StopReason::Length | StopReason::Unfinished => {
                self.cut += 1;
                return;
            }
            StopReason::LostCalls => self.lost += 1,
            StopReason::EndTurn | StopReason::ToolCalls | StopReason::Refusal => {
                self.texts += 1;
                if self.first_text.trim().is_empty() {
                    self.first_text = reply.shown();
                }
            }
        }
        self.cut = 0;
    }

    /// What follows the newest of them, with this text, which ended so.
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
