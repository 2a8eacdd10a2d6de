//! A task's status.

use crate::{
    mode::rules::Action,
    state::task::{CallStage, Stage, Task},
};
use abide_protocol::task::Status;

/// Where several hold: approval > question > tool > sub-tasks > thinking. `Paused`, by the task's own pause
/// or a held ancestor, shows once nothing runs.
#[must_use]
pub fn status(task: &Task) -> Status {
    if let Stage::Ended { end, .. } = &task.stage {
        return end.reason.status();
    }
    if (task.paused.is_some() || task.held.is_some()) && !task.in_flight() {
        return Status::Paused;
    }
    if !task.approvals.is_empty() {
        return Status::WaitingApproval;
    }
    if !task.questions.is_empty() {
        return Status::WaitingUser;
    }
    match &task.stage {
        Stage::Thinking { .. } | Stage::Backoff { .. } => Status::Thinking,
        Stage::Calling(calls) if calls.iter().any(|c| matches!(c.stage, CallStage::Started { .. })) => {
            Status::ToolExecuting
        }
        Stage::Calling(calls) if calls.iter().any(|c| matches!(c.stage, CallStage::Joining(_))) => {
            Status::WaitingChildren
        }
        // A task that joins acts again in the append in which the last of its sub-tasks ends.
        Stage::Idle if matches!(task.next(), Action::Join(_)) => Status::WaitingChildren,
        Stage::Calling(_) | Stage::Idle | Stage::Ended { .. } => Status::Running,
    }
}

/// The task works by itself: an attempt runs, or would if the daemon ran. It does not only wait for a person.
#[must_use]
pub fn is_at_work(task: &Task) -> bool {
    acts(task) || task.in_flight()
}

/// Whether the time counts as work: the task is not waiting, for the next attempt of a model call neither,
/// not paused and not ended.
pub(crate) fn works(task: &Task) -> bool {
    acts(task) && !matches!(task.stage, Stage::Backoff { .. })
}

fn acts(task: &Task) -> bool {
    matches!(status(task), Status::Running | Status::Thinking | Status::ToolExecuting)
}
