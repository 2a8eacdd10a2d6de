//! The status changes that a single append may make.

use abide_protocol::task::Status::{
    self, Cancelled, Completed, Error, Paused, Running, Thinking, ToolExecuting, WaitingApproval,
    WaitingChildren, WaitingUser,
};

/// A person may end a task from every live status, also as failed, and every task may be paused, end at a
/// limit, or wait for an answer or an approval. (The approvals of a reply open together, before any of its
/// calls starts, but for a call that turns out not to be undoable.) Only changes from an end are illegal.
#[rustfmt::skip]
const LEGAL: [(Status, &[Status]); 7] = [
    (Running, &[Thinking, ToolExecuting, WaitingChildren, WaitingUser, WaitingApproval, Paused, Completed, Cancelled, Error]),
    (Thinking, &[Running, ToolExecuting, WaitingChildren, WaitingUser, WaitingApproval, Paused, Completed, Cancelled, Error]),
    (ToolExecuting, &[Running, Thinking, WaitingChildren, WaitingUser, WaitingApproval, Paused, Completed, Cancelled, Error]),
    (WaitingChildren, &[Running, Thinking, ToolExecuting, WaitingUser, WaitingApproval, Paused, Completed, Cancelled, Error]),
    (WaitingUser, &[Running, Thinking, ToolExecuting, WaitingChildren, WaitingApproval, Paused, Completed, Cancelled, Error]),
    (WaitingApproval, &[Running, Thinking, ToolExecuting, WaitingChildren, WaitingUser, Paused, Completed, Cancelled, Error]),
    (Paused, &[Running, Thinking, ToolExecuting, WaitingChildren, WaitingUser, WaitingApproval, Completed, Cancelled, Error]),
];

pub(crate) fn is_legal(from: Status, to: Status) -> bool {
    all().any(|step| step == (from, to))
}

/// All legal changes.
pub(crate) fn all() -> impl Iterator<Item = (Status, Status)> {
    LEGAL.iter().flat_map(|(from, next)| next.iter().map(|to| (*from, *to)))
}
