//! When a task ends, its sub-tasks end first, and its result is delivered to its parent. All of it is in the append of the end: no
//! sub-task outlives its parent, and each result is delivered exactly once.

use super::{Draft, End};
use crate::{history::History, input::Shown, mint::Mint, task::Task};
use abide_protocol::{
    TaskId,
    record::{NewRecord, RecordBody, ResultsDelivered, TaskEnded},
    task::EndReason,
};

/// Adds to these unfolded records the ends and deliveries that follow from the ends among them.
pub(crate) fn with_relatives(
    history: &History,
    records: Vec<NewRecord>,
    shown: &mut Shown,
    mint: &mut Mint,
) -> Vec<NewRecord> {
    if history.tasks().len() < 2 {
        return records;
    }
    let mut ended: Vec<TaskId> =
        records.iter().filter_map(|record| Some(ending(history, record)?.0.id)).collect();
    let mut all = Vec::new();
    for record in records {
        let Some((task, end)) = ending(history, &record) else {
            all.push(record);
            continue;
        };
        for sub_task in history.live().filter(|other| history.is_within(other.id, task.id)) {
            if !ended.contains(&sub_task.id) {
                ended.push(sub_task.id);
                all.extend(end_sub_task(sub_task, shown, mint));
            }
        }
        let parent = task.head.parent_id.and_then(|id| history.task(id));
        let parent = parent.filter(|parent| !parent.has_ended() && !ended.contains(&parent.id));
        let delivered = parent.map(|parent| deliver(parent, task, end, mint)).unwrap_or_default();
        all.push(record);
        all.extend(delivered);
    }
    all
}

/// The task that this record ends, and how.
fn ending<'h, 'r>(history: &'h History, record: &'r NewRecord) -> Option<(&'h Task, &'r TaskEnded)> {
    match &record.body {
        RecordBody::TaskEnded(end) => Some((history.task(record.task_id?)?, end)),
        _ => None,
    }
}

fn end_sub_task(task: &Task, shown: &mut Shown, mint: &mut Mint) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    draft.keep_shown(task, shown);
    draft.end(task, End::of(EndReason::ParentEnded));
    draft.records
}

fn deliver(parent: &Task, task: &Task, end: &TaskEnded, mint: &mut Mint) -> Vec<NewRecord> {
    let mut text = format!("Sub-task {} has ended ({}).", task.id.short(), end.reason.words());
    for result in [&end.summary, &end.error].into_iter().flatten() {
        text.push('\n');
        text.push_str(result);
    }
    let mut draft = Draft::of(parent, mint);
    draft.push(RecordBody::ResultsDelivered(ResultsDelivered { tasks: vec![task.id], text }));
    draft.records
}
