//! Modes: how a task decides what to do next. Adding one is one file here.

mod agent;
mod chat;

use crate::task::Task;
use abide_protocol::task::{Mode, Phase};

/// What a mode wants next. Common code turns it into records and keeps to limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// A model call.
    Think { phase: Option<Phase> },
    /// Tell the model something, then decide again.
    Nudge(&'static str),
    /// The task is done.
    Finish { summary: Option<String> },
    /// The model would not answer.
    Refused,
}

/// Asks the task's mode. Only called when nothing is under way and nothing waits.
pub(crate) fn next(task: &Task) -> Action {
    match task.head.mode {
        Mode::Chat => chat::next(task),
        Mode::Agent => agent::next(task),
    }
}
