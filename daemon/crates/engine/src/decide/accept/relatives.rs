//! When a task ends, its sub-tasks end first, and its result is delivered to its parent. All of it is in the
//! append of the end: no sub-task outlives its parent, and each result is delivered exactly once.

use crate::{
    decide::{
        children,
        draft::{Draft, End},
        shown::Shown,
    },
    mint::Mint,
    state::{
        history::History,
        task::{CallStage, Task},
    },
};
use abide_protocol::{
    TaskId,
    message::CallOutcome,
    record::{NewRecord, RecordBody, ResultsDelivered, TaskEnded},
    task::EndReason,
    transcript::ToolResult,
};

/// Adds to these unfolded records the ends and deliveries that follow from the ends among them.
pub(crate) fn with_relatives(
    history: &History,
    records: Vec<NewRecord>,
    shown: &mut Shown,
    mint: &mut Mint,
) -> Vec<NewRecord> {
    let mut ended: Vec<TaskId> =
        records.iter().filter_map(|record| Some(ending(history, record)?.0.id)).collect();
    if ended.is_empty() || history.tasks().len() < 2 {
        return records;
    }
    // A task between two that end ends too, with the one above: it gets no result of the one below.
    let ends_here = |task: TaskId| ended.iter().any(|above| history.is_within(task, *above));
    let survivors: Vec<TaskId> =
        history.live().map(|task| task.id).filter(|task| !ends_here(*task)).collect();
    let mut all = Vec::new();
    let mut ends: Vec<(TaskId, TaskEnded)> = Vec::new();
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
        let parent = parent.filter(|parent| survivors.contains(&parent.id));
        ends.push((task.id, end.clone()));
        let delivered = parent.map(|parent| deliver(history, parent, task, &ends, mint)).unwrap_or_default();
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

/// Delivers the result of the task that ended last to its parent. If a call of the parent waits for it, the
/// result is in that call's, once all that it waits for have ended; otherwise it is a note.
fn deliver(
    history: &History,
    parent: &Task,
    task: &Task,
    ends: &[(TaskId, TaskEnded)],
    mint: &mut Mint,
) -> Vec<NewRecord> {
    let ending: Vec<(TaskId, &TaskEnded)> = ends.iter().map(|(id, end)| (*id, end)).collect();
    let mut draft = Draft::of(parent, mint);
    let joining = parent.calls().iter().find_map(|call| match &call.stage {
        CallStage::Joining(tasks) if tasks.contains(&task.id) => Some((call, tasks)),
        _ => None,
    });
    if let Some((call, tasks)) = joining {
        if let Some(results) = children::results(history, tasks, &ending) {
            draft.finish_call(call, CallOutcome::Done, ToolResult::success(results, None));
        }
    } else if let Some((_, end)) = ending.last() {
        let text = children::note(task, end);
        draft.push(RecordBody::ResultsDelivered(ResultsDelivered { tasks: vec![task.id], text }));
    }
    draft.records
}
