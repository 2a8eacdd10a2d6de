//! `auto`: works with tools like `agent`, and ends with the first reply without a call: its text is the answer. A reply that is cut, broken
//! off or empty, or whose calls are lost, is none.

use super::{Action, Answer, Rules, agent};
use crate::state::task::{Last, Task};
use abide_protocol::transcript::StopReason;

pub(super) struct Auto;

impl Rules for Auto {
    fn next(&self, task: &Task) -> Action {
        match &task.last {
            Last::Text { text, stop: StopReason::EndTurn | StopReason::ToolCalls, .. }
                if !text.trim().is_empty() =>
            {
                Action::Finish(Answer::of(task, text))
            }
            _ => agent::Agent.next(task),
        }
    }

    fn control_tools(&self) -> &'static [&'static str] {
        agent::CONTROL_TOOLS
    }

    fn is_told_before_it_ends(&self) -> bool {
        true
    }
}
