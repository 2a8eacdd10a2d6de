//! A `fork` that asks for a worktree: makes it, then starts the sub-task there.

use super::{Gate, Runner, files::opens};
use crate::clock;
use abide_engine::{Input, OwnPlace};
use abide_protocol::{
    CallId, ConversationId, TaskId, message::CallOutcome, record::TaskStarted, transcript::ToolResult,
};
use abide_tools::{Answer, NewWorktree, Place, Worktree};
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Such a call.
pub struct ForkJob {
    pub conversation: ConversationId,
    pub task: TaskId,
    pub call: CallId,
    pub attempt: u32,
    /// Of the task that forks.
    pub head: Arc<TaskStarted>,
    pub prompt: String,
    pub tools: Option<Vec<String>>,
    pub forks: Box<dyn Forks>,
}

/// Starts a sub-task of the task whose call runs.
pub trait Forks: Send + Sync {
    /// Returns its id: another one if this call has started a sub-task before.
    fn fork(
        &self,
        child: TaskId,
        prompt: String,
        tools: Option<Vec<String>>,
        place: OwnPlace,
    ) -> Answer<'_, TaskId>;
}

/// `None`: it was cancelled, or what led to it is not committed.
pub(super) async fn run(
    runner: &Runner,
    job: ForkJob,
    gate: Gate,
    cancel: CancellationToken,
) -> Option<Input> {
    opens(gate, &cancel).await?;
    let (task, call, attempt) = (job.task, job.call, job.attempt);
    let (outcome, result) = match fork(runner, job, &cancel).await {
        Ok(words) => (CallOutcome::Done, ToolResult::success(words, None)),
        Err(words) => (CallOutcome::Refused, ToolResult::failure(words)),
    };
    if cancel.is_cancelled() {
        return None;
    }
    let (duration_ms, read_results, usage) = (0, Vec::new(), None);
    Some(Input::CallFinished { task, call, attempt, outcome, result, duration_ms, read_results, usage })
}

async fn fork(runner: &Runner, job: ForkJob, cancel: &CancellationToken) -> Result<String, String> {
    let ForkJob { conversation, head, prompt, tools, forks, .. } = job;
    let child = TaskId(clock::mint().uuid());
    let copy = runner.settings.recent().await.config().worktree.copy.clone();
    let new = NewWorktree { conversation, task: Some(child), branch: None, copy };
    let place = Place {
        workspace: head.workspace.clone(),
        environment: head.environment.clone(),
        cancel: cancel.clone(),
    };
    let worktrees = runner.tools.worktrees().clone();
    let made = tokio::task::spawn_blocking(move || worktrees.make(&place, new)).await;
    let made = made.map_err(|error| error.to_string())?;
    let (worktree, workspace) = made.map_err(|error| format!("No sub-task was started: {error}"))?;
    let of_child = TaskStarted { workspace: workspace.clone(), ..TaskStarted::clone(&head) };
    let setup = runner.setup(&of_child).await.map(Box::new);
    let place = OwnPlace { workspace, branch: worktree.branch.clone(), setup };
    let forked = forks.fork(child, prompt, tools, place).await;
    let (handle, branch) = match forked {
        Ok(started) if started == child => (child, Some(worktree.branch)),
        other => {
            remove(runner, worktree).await;
            let earlier = other?;
            let all = runner.tools.worktrees().clone();
            let all = tokio::task::spawn_blocking(move || all.of(conversation)).await.unwrap_or_default();
            let branch = all.into_iter().find(|of| of.task == Some(earlier)).map(|of| of.branch);
            (earlier, branch)
        }
    };
    Ok(json!({ "handle": handle.short(), "branch": branch }).to_string())
}

/// Nobody works there.
async fn remove(runner: &Runner, worktree: Worktree) {
    let worktrees = runner.tools.worktrees().clone();
    let removed = tokio::task::spawn_blocking(move || worktrees.remove(&worktree)).await;
    if let Ok(Err(error)) = removed {
        tracing::warn!("a worktree that nobody uses stays: {error}");
    }
}
