//! Where a task stands, and the one table of legal transitions.

use crate::task::{CallStage, Stage, Task};
use abide_protocol::task::Status;

/// The task's status. Where several hold: approval > question > tool > thinking; paused shows once nothing is under way.
#[must_use]
pub fn status(task: &Task) -> Status {
    if let Stage::Ended { end, .. } = &task.stage {
        return end.reason.status();
    }
    if task.paused.is_some() && !task.in_flight() {
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
        Stage::Calling(_) | Stage::Idle | Stage::Ended { .. } => Status::Running,
    }
}

/// Something of the task is under way, or would be if the daemon were there: it does not (only) wait for a person.
#[must_use]
pub fn is_at_work(task: &Task) -> bool {
    works(task) || task.in_flight()
}

/// Whether time counts as work: neither waiting nor paused nor ended.
pub(crate) fn works(task: &Task) -> bool {
    matches!(status(task), Status::Running | Status::Thinking | Status::ToolExecuting)
}

use Status::{
    Cancelled, Completed, Error, Paused, Running, Thinking, ToolExecuting, WaitingApproval, WaitingChildren,
    WaitingUser,
};

/// From each live status, where one append may lead. Every live status leads to `cancelled`: a stop is always legal.
#[rustfmt::skip]
const LEGAL: [(Status, &[Status]); 7] = [
    (Running, &[Thinking, ToolExecuting, WaitingUser, WaitingApproval, WaitingChildren, Paused, Completed, Cancelled, Error]),
    (Thinking, &[Running, ToolExecuting, WaitingUser, WaitingApproval, WaitingChildren, Paused, Completed, Cancelled, Error]),
    (ToolExecuting, &[Running, Thinking, WaitingUser, WaitingApproval, WaitingChildren, Paused, Completed, Cancelled, Error]),
    (WaitingUser, &[Running, Thinking, ToolExecuting, WaitingApproval, WaitingChildren, Paused, Completed, Cancelled, Error]),
    (WaitingApproval, &[Running, Thinking, ToolExecuting, WaitingUser, WaitingChildren, Paused, Completed, Cancelled, Error]),
    (WaitingChildren, &[Running, Thinking, ToolExecuting, WaitingUser, WaitingApproval, Paused, Completed, Cancelled, Error]),
    // A pause ends by going on or by a stop; work that was under way when it began may still end the task.
    (Paused, &[Running, Thinking, ToolExecuting, WaitingUser, WaitingApproval, WaitingChildren, Completed, Cancelled, Error]),
];

/// Whether a task may go from `from` to `to`. Nothing leads out of an end.
#[must_use]
pub fn is_legal(from: Status, to: Status) -> bool {
    from == to || LEGAL.iter().any(|(status, next)| *status == from && next.contains(&to))
}
