//! The record of a move of the system's clock.

use crate::{
    mint::Mint,
    state::{
        history::History,
        task::{Stage, Task},
    },
};
use abide_protocol::record::{ClockMoved, NewRecord, RecordBody};

/// The record that the clock has moved, if it has and the time of a live task depends on it.
pub(crate) fn moved(history: &History, moved: ClockMoved, mint: &mut Mint) -> Option<NewRecord> {
    let root = history.root().filter(|_| moved != ClockMoved::default())?;
    let is_timed = |task: &Task| {
        let is_due = matches!(task.stage, Stage::Backoff { .. })
            || task.limits.step_delay_ms > 0
            || task.questions.values().any(|question| question.expires_at.is_some());
        task.clock.working_since.is_some() || is_due
    };
    history.live().any(is_timed).then(|| NewRecord {
        id: mint.record_id(),
        task_id: Some(root.id),
        at: mint.at(),
        body: RecordBody::ClockMoved(moved),
    })
}
