//! `chat`: one request, one streamed answer, done. Somebody's words that come meanwhile are answered by one more.

use super::{Action, Answer, Rules};
use crate::state::task::{Last, Task};
use abide_protocol::{shape::ToolUse, task::Phase, transcript::StopReason};

pub(super) struct Chat;

impl Rules for Chat {
    fn next(&self, task: &Task) -> Action {
        match &task.last {
            Last::Start => Action::Think(None),
            Last::Text { stop: StopReason::Refusal, .. } => Action::Refused,
            Last::Text { text, .. } => Action::Finish(Answer::of(task, text)),
            Last::Results { .. } | Last::Nudged => Action::Finish(Answer::default()),
        }
    }

    /// It has no tools. A call all the same is no answer: without text the reply is empty.
    fn tool_use(&self, _: Option<Phase>) -> ToolUse {
        ToolUse::Forbidden
    }

    fn control_tools(&self) -> &'static [&'static str] {
        &[]
    }
}
