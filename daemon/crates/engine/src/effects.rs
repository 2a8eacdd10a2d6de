//! What should be under way. Whoever carries it out starts what is missing and cancels what is no longer listed.

use crate::{
    advance::step_begins_at,
    history::History,
    status::works,
    task::{CallStage, Stage, Task},
};
use abide_protocol::{CallId, RecordId, TaskId, Timestamp};

/// A model call or a tool call. Equal effects are the same attempt of the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    Model { task: TaskId, item: RecordId, attempt: u32 },
    Tool { task: TaskId, call: CallId, attempt: u32 },
}

impl Effect {
    #[must_use]
    pub const fn task(&self) -> TaskId {
        match self {
            Self::Model { task, .. } | Self::Tool { task, .. } => *task,
        }
    }
}

/// All that should be under way now.
#[must_use]
pub fn effects(history: &History) -> Vec<Effect> {
    history.live().flat_map(of_task).collect()
}

fn of_task(task: &Task) -> Vec<Effect> {
    match &task.stage {
        Stage::Thinking { item, attempt, .. } => {
            vec![Effect::Model { task: task.id, item: *item, attempt: *attempt }]
        }
        Stage::Calling(calls) => calls
            .iter()
            .filter_map(|c| match c.stage {
                CallStage::Started { attempt, .. } => {
                    Some(Effect::Tool { task: task.id, call: c.block.id, attempt })
                }
                _ => None,
            })
            .collect(),
        Stage::Idle | Stage::Backoff { .. } | Stage::Ended { .. } => Vec::new(),
    }
}

/// When the task has to be woken, if nothing else happens before: a retry, a delayed step, a question's or the task's time.
#[must_use]
pub fn wake_at(task: &Task) -> Option<Timestamp> {
    if task.has_ended() {
        return None;
    }
    let expiry = task.questions.values().filter_map(|q| q.expires_at).min();
    let held = task.waits();
    let retry = match task.stage {
        Stage::Backoff { until, .. } if !held => Some(until),
        _ => None,
    };
    let step = step_begins_at(task).filter(|_| !held);
    let limit = task.limits.max_duration_secs;
    let time_up =
        (limit > 0 && works(task)).then(|| task.clock.reaches(limit.saturating_mul(1000))).flatten();
    [expiry, retry, step, time_up].into_iter().flatten().min()
}
