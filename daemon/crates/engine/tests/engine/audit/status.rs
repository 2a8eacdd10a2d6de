//! The status changes that a single append may make.

use abide_protocol::task::Status::{
    self, Cancelled, Completed, Error, Paused, Running, Thinking, ToolExecuting, WaitingApproval,
    WaitingChildren, WaitingUser,
};

/// A stop is legal from every live status, and every task may be paused, end at a limit, or wait for an answer. Besides all changes
/// from an end, these are illegal:
///
/// * `Error` without a model call: while tools run or wait for approval, no model call can fail;
/// * `WaitingApproval` while a tool runs or sub-tasks are awaited: the approvals of a reply open together, before any of its calls
///   starts.
#[rustfmt::skip]
const LEGAL: [(Status, &[Status]); 7] = [
    (Running, &[Thinking, ToolExecuting, WaitingChildren, WaitingUser, WaitingApproval, Paused, Completed, Cancelled, Error]),
    (Thinking, &[Running, ToolExecuting, WaitingChildren, WaitingUser, WaitingApproval, Paused, Completed, Cancelled, Error]),
    (ToolExecuting, &[Running, Thinking, WaitingChildren, WaitingUser, Paused, Completed, Cancelled]),
    (WaitingChildren, &[Running, Thinking, ToolExecuting, WaitingUser, Paused, Completed, Cancelled]),
    (WaitingUser, &[Running, Thinking, ToolExecuting, WaitingChildren, WaitingApproval, Paused, Completed, Cancelled, Error]),
    (WaitingApproval, &[Running, Thinking, ToolExecuting, WaitingChildren, WaitingUser, Paused, Completed, Cancelled]),
    (Paused, &[Running, Thinking, ToolExecuting, WaitingChildren, WaitingUser, WaitingApproval, Completed, Cancelled, Error]),
];

pub(crate) fn is_legal(from: Status, to: Status) -> bool {
    all().any(|step| step == (from, to))
}

/// All legal changes.
pub(crate) fn all() -> impl Iterator<Item = (Status, Status)> {
    LEGAL.iter().flat_map(|(from, next)| next.iter().map(|to| (*from, *to)))
}
