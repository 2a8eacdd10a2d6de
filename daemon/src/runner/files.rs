//! Checkpoints and undos. Git does the work, on a blocking thread.

use super::{Gate, Runner};
use abide_engine::{Effect, Input, NoTrail, Trail};
use abide_fail_point::{Point, pass};
use abide_protocol::{
    ConversationId, TaskId,
    checkpoint::{CheckpointState, Ran, SavedTree, UndoBegun, UndoResult},
    record::TaskStarted,
};
use abide_tools::{Place, Take, Taken, UndoOrder};
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

/// A checkpoint to make.
pub struct CheckpointJob {
    pub conversation: ConversationId,
    pub task: TaskId,
    pub number: u32,
    pub step: u32,
    pub workspace: String,
    pub environment: BTreeMap<String, String>,
    /// The checkpoint before, and the calls that ran since.
    pub since: Option<(SavedTree, Option<Ran>)>,
}

/// An undo to carry out.
pub struct UndoJob {
    pub conversation: ConversationId,
    /// The conversation's newest root task.
    pub task: TaskId,
    pub begun: UndoBegun,
}

impl CheckpointJob {
    pub(super) const fn effect(&self) -> Effect {
        Effect::Checkpoint { task: self.task, number: self.number }
    }
}

impl UndoJob {
    pub(super) const fn effect(&self) -> Effect {
        Effect::Undo { task: self.task, undo: self.begun.undo }
    }
}

/// Where a task's commands work, for git.
#[must_use]
pub fn place_of(head: TaskStarted) -> Place {
    Place { workspace: head.workspace, environment: head.environment, cancel: CancellationToken::new() }
}

/// `None`: it was cancelled, or what led to it is not committed.
pub(super) async fn checkpoint(
    runner: &Runner,
    job: CheckpointJob,
    gate: Gate,
    cancel: CancellationToken,
) -> Option<Input> {
    opens(gate, &cancel).await?;
    let CheckpointJob { conversation, task, number, step, workspace, environment, since } = job;
    let place = Place { workspace, environment, cancel: cancel.clone() };
    let (previous, ran) = since.unzip();
    let label =
        if previous.is_none() { "before the first change".to_owned() } else { format!("step {step}") };
    let take = Take { conversation, task, previous, ran: ran.flatten(), label };
    let checkpoints = runner.tools.checkpoints().clone();
    let _turn = cancel.run_until_cancelled(checkpoints.turn()).await?;
    let taken = tokio::task::spawn_blocking(move || checkpoints.take(&place, &take)).await;
    if cancel.is_cancelled() {
        return None;
    }
    let state = match taken {
        Ok(Ok(Taken::Unchanged)) => CheckpointState::Unchanged,
        Ok(Ok(Taken::Changed(taken))) => CheckpointState::Taken(taken),
        Ok(Err(error)) => {
            tracing::info!(%task, "no checkpoint: {error}");
            CheckpointState::Impossible(error.to_string())
        }
        Err(error) => {
            tracing::error!(%task, %error, "a checkpoint's blocking task did not complete");
            CheckpointState::Impossible("making it failed; this is a fault in Abide".to_owned())
        }
    };
    Some(Input::Checkpointed { task, number, state })
}

/// As above.
pub(super) async fn undo(
    runner: &Runner,
    job: UndoJob,
    gate: Gate,
    cancel: CancellationToken,
) -> Option<Input> {
    opens(gate, &cancel).await?;
    let undo = job.begun.undo;
    let done = restore(runner, job, &cancel).await;
    if cancel.is_cancelled() {
        return None;
    }
    let result = done.unwrap_or_else(|error| UndoResult::Failed(error.to_string()));
    Some(Input::Undone { undo, result })
}

async fn restore(runner: &Runner, job: UndoJob, cancel: &CancellationToken) -> anyhow::Result<UndoResult> {
    let UndoJob { conversation, begun, .. } = job;
    let records = runner.store.file_records(conversation).await?;
    let head = runner.store.task_head(conversation, begun.undone).await?.ok_or(NoTrail::NothingChanged)?;
    let trail = Trail::of(begun.undone, &records)?;
    let from = trail.first(begun.from).ok_or(NoTrail::NothingChanged)?;
    let place = Place { cancel: cancel.clone(), ..place_of(*head) };
    let chain = trail.chain;
    let UndoBegun { undo, undone: task, all, files, hunk, .. } = begun;
    let order = UndoOrder { conversation, task, undo, chain, from, all, files, hunk };
    let checkpoints = runner.tools.checkpoints().clone();
    let _turn = cancel.run_until_cancelled(checkpoints.turn()).await;
    let done = tokio::task::spawn_blocking(move || checkpoints.undo(&place, &order)).await??;
    pass(Point::UndoDone);
    Ok(UndoResult::Done(done))
}

/// Waits for the gate; `None` if it is dropped, or the work is cancelled before.
pub(super) async fn opens(mut gate: Gate, cancel: &CancellationToken) -> Option<()> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        open = gate.wait_for(|open| *open) => open.is_ok().then_some(()),
    }
}

/// What led to the work waits for an outcome, so a panic needs one too.
pub(super) fn panicked(effect: Effect) -> Option<Input> {
    tracing::error!(?effect, "work on files panicked; this is a defect");
    let words = "the work itself failed; this is a fault in Abide".to_owned();
    match effect {
        Effect::Checkpoint { task, number } => {
            Some(Input::Checkpointed { task, number, state: CheckpointState::Impossible(words) })
        }
        Effect::Undo { undo, .. } => Some(Input::Undone { undo, result: UndoResult::Failed(words) }),
        Effect::Model { .. } | Effect::Tool { .. } => None,
    }
}
