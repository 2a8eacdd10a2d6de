//! A task as clients see it, and as the store keeps it.

use crate::{
    decide::{accept::RetryPolicy, advance::needs_daemon, effects::wake_at, files},
    state::{
        history::History,
        status::status,
        task::{CallStage, Stage, Task},
    },
};
use abide_protocol::{
    ConversationId, Timestamp,
    inbox::Pending,
    record::ModelErrorKind,
    task::{ActiveCall, AgentTask, CallState, EndReason, PauseReason, Retry, Tree},
};

/// The whole task; [`AgentTask::brief`] is the short form for lists.
#[must_use]
pub fn view(conversation: ConversationId, history: &History, task: &Task) -> AgentTask {
    let (ended_at, end) = match &task.stage {
        Stage::Ended { at, end } => (Some(*at), Some(end)),
        _ => (None, None),
    };
    let phase = if task.has_ended() { None } else { task.turn().phase };
    let mut pending: Vec<Pending> = task
        .approvals
        .values()
        .cloned()
        .map(Pending::Approval)
        .chain(task.questions.values().cloned().map(Pending::Question))
        .collect();
    pending.sort_by_key(|p| (p.asked_at(), p.id()));
    AgentTask {
        id: task.id,
        conversation_id: conversation,
        parent_id: task.head.parent_id,
        mode: task.head.mode,
        model: task.head.model.clone(),
        status: status(task),
        end_reason: end.map(|e| e.reason),
        pause_reason: task.paused.or(task.held),
        original_prompt: task.head.original_prompt.clone(),
        scratchpad: Vec::new(),
        step_count: task.step,
        phase,
        started_at: task.started_at,
        ended_at,
        pending,
        active_calls: active_calls(task),
        error_message: end.and_then(|e| e.error.clone()),
        summary: end.and_then(|e| e.summary.clone()),
        usage: task.usage,
        limits: task.limits,
        metadata: task.head.metadata.clone(),
        children: task.children.clone(),
        incomplete: task.incomplete().filter(|_| end.is_some_and(|end| end.reason == EndReason::Completed)),
        retry: retry(task),
        work: task.clock.work(),
        external_id: task.head.external_id.clone(),
        title: task.head.title.clone(),
        depth: task.head.depth,
        tree: tree(history, task),
        data: end.and_then(|e| e.data.clone()).map(Box::new),
        approvals: task.head.approvals,
    }
}

/// The sub-tasks of a task, at any depth.
fn tree(history: &History, task: &Task) -> Option<Box<Tree>> {
    if task.children.is_empty() {
        return None;
    }
    let mut tree = Tree::default();
    for below in
        history.tasks().iter().filter(|other| other.id != task.id && history.is_within(other.id, task.id))
    {
        tree.usage.add(&below.usage);
        if below.has_ended() {
            tree.ended += 1;
        } else {
            tree.live += 1;
            // A paused one too: its questions stay open.
            tree.waiting += u32::from(!below.questions.is_empty() || !below.approvals.is_empty());
        }
    }
    Some(Box::new(tree))
}

/// A task's state as the store keeps it beside the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projection {
    pub task: AgentTask,
    /// When the task has to be woken. One that has ended has to be at once, if work on its files is not over:
    /// a starting daemon finds it by that.
    pub wake_at: Option<Timestamp>,
    /// A starting daemon has to load the task.
    pub needs_daemon: bool,
}

/// The task's projection.
#[must_use]
pub fn project(conversation: ConversationId, history: &History, task: &Task) -> Projection {
    Projection {
        task: view(conversation, history, task),
        wake_at: wake_at(task).or_else(|| files::unfinished_after_end(history, task)),
        needs_daemon: needs_daemon(history, task),
    }
}

/// The attempt that is scheduled or under way after a failed one. A task that may begin nothing has none, and
/// neither does a call that the daemon interrupted and makes again: its model did not fail.
fn retry(task: &Task) -> Option<Retry> {
    let is_due = !task.waits() || task.paused == Some(PauseReason::Parked);
    let failed = task.failed().filter(|failed| failed.kind != ModelErrorKind::Interrupted && is_due)?;
    Some(Retry {
        attempt: failed.attempt + 1,
        of: RetryPolicy::after(failed.kind, task.was_reached).attempts,
        kind: failed.kind,
        reason: failed.reason.clone(),
        next_at: failed.until,
    })
}

fn active_calls(task: &Task) -> Vec<ActiveCall> {
    task.calls()
        .iter()
        .filter_map(|call| {
            let (state, started_at, attempt) = match call.stage {
                CallStage::Queued | CallStage::Allowed => (CallState::Queued, None, 0),
                CallStage::Approval(_) => (CallState::WaitingApproval, None, 0),
                CallStage::Asking(_) => (CallState::WaitingUser, None, 0),
                CallStage::Joining(_) => (CallState::WaitingChildren, None, 0),
                CallStage::Started { attempt, at } => (CallState::Running, Some(at), attempt),
                CallStage::Finished { .. } => return None,
            };
            let summary =
                call.assessed.as_ref().map_or_else(|| call.block.tool.clone(), |p| p.summary.clone());
            Some(ActiveCall {
                call_id: call.block.id,
                tool: call.tool().to_owned(),
                summary,
                state,
                started_at,
                attempt,
            })
        })
        .collect()
}
