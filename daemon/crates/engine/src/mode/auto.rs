//! `auto`: works with tools like `agent`, and ends with the first reply without a call: its text is the
//! answer. A reply that is cut, broken off or empty, or whose calls are lost, is none.

use super::{
    agent::Agent,
    rules::{Action, Answer, Facts, Last, Rules, Table},
};
use abide_protocol::{record::RecordBody, transcript::StopReason};

pub(super) const TABLE: Table = Table {
    prompt: Some(include_str!("prompt/auto.md")),
    is_told_before_it_ends: true,
    ..super::agent::TABLE
};

/// It remembers what an agent does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Auto {
    agent: Agent,
}

impl Rules for Auto {
    fn fold(&mut self, record: &RecordBody, last: &Last) {
        self.agent.fold(record, last);
    }

    fn next(&self, facts: &Facts<'_>) -> Action {
        match facts.last {
            Last::Text { text, stop: StopReason::EndTurn | StopReason::ToolCalls, .. }
                if !text.trim().is_empty() =>
            {
                Action::Finish(Answer::of(facts, text))
            }
            _ => self.agent.next(facts),
        }
    }
}
