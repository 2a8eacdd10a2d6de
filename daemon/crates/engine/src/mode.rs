//! Modes: how a task decides what to do next. Adding one is one file here.

mod agent;
mod chat;

use crate::task::Task;
use abide_protocol::task::{Mode, Phase};

/// What a mode wants next. [`crate::advance()`] turns it into records and applies the limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// A model call.
    Think { phase: Option<Phase> },
    /// Send the model a note, then decide again.
    Nudge(&'static str),
    /// The task is done.
    Finish { summary: Option<String> },
    /// The model declined to answer.
    Refused,
}

/// Asks the task's mode. Called only when nothing runs and the task does not wait.
pub(crate) fn next(task: &Task) -> Action {
    match task.head.mode {
        Mode::Chat => chat::next(task),
        Mode::Agent => agent::next(task),
    }
}
