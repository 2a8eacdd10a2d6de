//! The attempts that should be running. The driver starts those that are missing and cancels those no longer
//! listed.

use crate::{
    decide::{advance::step_begins_at, effect::Effect, files},
    state::{
        history::History,
        status::works,
        task::{CallStage, Stage, Task},
    },
};
use abide_protocol::Timestamp;

/// All attempts that should be running now.
#[must_use]
pub fn effects(history: &History) -> Vec<Effect> {
    history.live().flat_map(of_task).chain(files::effect(history)).collect()
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

/// When the task has to be woken: for a retry, a delayed step, a question's expiry or the time limit.
#[must_use]
pub fn wake_at(task: &Task) -> Option<Timestamp> {
    if task.has_ended() {
        return None;
    }
    let expiry = task.questions.values().filter_map(|q| q.expires_at).min();
    let is_blocked = task.waits();
    let retry = match &task.stage {
        Stage::Backoff { failed, .. } if !is_blocked => Some(failed.until),
        _ => None,
    };
    let step = step_begins_at(task).filter(|_| !is_blocked);
    let limit = task.limits.max_duration_secs;
    let time_up = (limit > 0 && (works(task) || task.works_below))
        .then(|| task.clock.reaches(limit.saturating_mul(1000)))
        .flatten();
    [expiry, retry, step, time_up].into_iter().flatten().min()
}
