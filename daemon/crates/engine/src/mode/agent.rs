//! `agent`: works with tools until the model calls `task_complete`.

use super::{
    control::{ASK_USER, FORK, SEND_UPDATE, TASK_COMPLETE, TELL, WAIT},
    progress::{AfterText, Progress},
    rules::{Action, Answer, Facts, Last, Rules, Table},
};
use abide_protocol::{record::RecordBody, transcript::StopReason};

pub(super) const TABLE: Table = Table {
    prompt: Some(include_str!("prompt/agent.md")),
    control_tools: &[TASK_COMPLETE, ASK_USER, SEND_UPDATE, FORK, WAIT, TELL],
    shares_step_limit: true,
    ..Table::USUAL
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Agent {
    progress: Progress,
}

impl Rules for Agent {
    fn fold(&mut self, record: &RecordBody, _: &Last) {
        self.progress.fold(record);
    }

    fn next(&self, facts: &Facts<'_>) -> Action {
        match facts.last {
            Last::Start | Last::Nudged | Last::Results { complete: None } => Action::Think(None),
            Last::Results { complete: Some(summary) } => Action::Finish(Answer::of(facts, summary)),
            Last::Text { stop: StopReason::Refusal, .. } => Action::Refused,
            Last::Text { text, stop, .. } => match self.progress.after_text(facts, text, *stop) {
                AfterText::Nudge(words) => Action::Nudge(words),
                AfterText::End(answer) => Action::Finish(answer),
            },
        }
    }
}
