//! `chat`: one request, one streamed answer, done.

use super::Action;
use crate::task::{Last, Task};
use abide_protocol::transcript::StopReason;

pub(super) fn next(task: &Task) -> Action {
    match &task.last {
        Last::Start => Action::Think { phase: None },
        Last::Text { stop: StopReason::Refusal, .. } => Action::Refused,
        Last::Text { .. } | Last::Results { .. } | Last::Nudged => Action::Finish { summary: None },
    }
}
