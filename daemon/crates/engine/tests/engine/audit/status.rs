//! From which status to which other one a single append may lead.

use abide_protocol::task::Status::{
    self, Cancelled, Completed, Error, Paused, Running, Thinking, ToolExecuting, WaitingApproval, WaitingUser,
};

/// A stop is legal from everywhere, and everything may be paused, end at a limit, or wait for a person's answer. Not legal are, besides
/// all that leads out of an end:
///
/// * an error that no model call led to: while tools run or wait for approval, there is none whose failure could end the task;
/// * an approval that is asked for while a tool runs: those of a reply are asked for together, before any of its calls begins;
/// * a wait for children: there is no such wait yet.
#[rustfmt::skip]
const LEGAL: [(Status, &[Status]); 6] = [
    (Running, &[Thinking, ToolExecuting, WaitingUser, WaitingApproval, Paused, Completed, Cancelled, Error]),
    (Thinking, &[Running, ToolExecuting, WaitingUser, WaitingApproval, Paused, Completed, Cancelled, Error]),
    (ToolExecuting, &[Running, Thinking, WaitingUser, Paused, Completed, Cancelled]),
    (WaitingUser, &[Running, Thinking, ToolExecuting, WaitingApproval, Paused, Completed, Cancelled, Error]),
    (WaitingApproval, &[Running, Thinking, ToolExecuting, WaitingUser, Paused, Completed, Cancelled]),
    (Paused, &[Running, Thinking, ToolExecuting, WaitingUser, WaitingApproval, Completed, Cancelled, Error]),
];

pub(crate) fn is_legal(from: Status, to: Status) -> bool {
    all().any(|step| step == (from, to))
}

/// All legal steps.
pub(crate) fn all() -> impl Iterator<Item = (Status, Status)> {
    LEGAL.iter().flat_map(|(from, next)| next.iter().map(|to| (*from, *to)))
}
