//! `chat`: one request, one streamed answer, done. Somebody's words that come meanwhile are answered by one
//! more.

use super::rules::{Action, Answer, Facts, Last, Rules, Shape, Table, Tools};
use abide_protocol::transcript::StopReason;

pub(super) const TABLE: Table = Table {
    tools: Tools::Absent,
    // A call all the same is no answer: without text the reply is empty.
    shape: |_| Shape::WITHOUT_TOOLS,
    ..Table::USUAL
};

/// A chat remembers nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chat;

impl Rules for Chat {
    fn next(&self, facts: &Facts<'_>) -> Action {
        match facts.last {
            Last::Start => Action::Think(None),
            Last::Text { stop: StopReason::Refusal, .. } => Action::Refused,
            Last::Text { text, .. } => Action::Finish(Answer::of(facts, text)),
            Last::Results { .. } | Last::Nudged => Action::Finish(Answer::default()),
        }
    }
}
