use super::{Gate, Runner, ToolJob, coalesce::Coalescer, inference, recall};
use crate::rule_book;
use abide_engine::{CheckpointBefore, Input};
use abide_fail_point::{Point, pass};
use abide_protocol::{
    CallId, TaskId,
    message::CallOutcome,
    notification::{DeltaItem, DeltaKind},
    transcript::ToolResult,
};
use abide_tools::{Place, SandboxSettings};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Prepares a call while the record of its start is being committed, and runs it after the commit.
pub(super) async fn run(
    runner: &Runner,
    job: ToolJob,
    mut gate: Gate,
    cancel: CancellationToken,
) -> Option<Input> {
    if let Some(query) = abide_tools::recall_query(&job.run.assessed) {
        return recall::run(runner, job, &query, gate, cancel).await;
    }
    if let Some(asked) = abide_tools::inference(&job.run.assessed) {
        return inference::run(runner, job, asked, gate, cancel).await;
    }
    let ToolJob { conversation, task, call, attempt, head: _, run, checkpoint_before, sub_tasks } = job;
    let catalog = runner.settings.recent().await;
    let sandbox = SandboxSettings {
        unreadable: rule_book::unreadable(
            catalog.policy(),
            &rule_book::remembered(&runner.store, &runner.tools, &run.workspace),
        ),
        ..catalog.config().sandbox_settings(runner.tools.home())
    };
    let place = Place {
        workspace: run.workspace.clone(),
        environment: run.environment.clone(),
        cancel: cancel.clone(),
    };
    // Before the sandbox is prepared: that changes the folder.
    tokio::select! {
        () = look(runner, place, checkpoint_before) => {}
        () = cancel.cancelled() => return None,
    }
    let prepared = runner.tools.prepare(run, &sandbox).await;
    let starts = tokio::select! {
        biased;
        () = cancel.cancelled() => false,
        open = gate.wait_for(|open| *open) => open.is_ok(),
    };
    if !starts {
        prepared.discard().await;
        return None;
    }
    pass(Point::ToolStart);
    let coalescer = Coalescer::new(runner.hub.clone(), conversation, task, DeltaItem::Call(call), attempt);
    let output = coalescer.clone();
    let show = Box::new(move |text: &str| output.push(DeltaKind::Output, text));
    let work = Box::pin(prepared.run(cancel.clone(), show, &*sub_tasks));
    let finished = coalescer.drive(gate, work).await?;
    pass(Point::ToolFinished);
    if cancel.is_cancelled() {
        return None;
    }
    Some(Input::CallFinished {
        task,
        call,
        attempt,
        outcome: finished.outcome,
        result: finished.result,
        duration_ms: finished.duration_ms,
        read_results: sub_tasks.read(),
        usage: None,
    })
}

/// Does a call's work in the daemon itself, after the call's start is committed. Returns the outcome of the work
/// and its duration in ms. `None`: the call is cancelled, or the commit has failed.
pub(super) async fn in_process<T>(
    work: impl Future<Output = T>,
    mut gate: Gate,
    cancel: &CancellationToken,
) -> Option<(T, u64)> {
    let timed = async {
        gate.wait_for(|open| *open).await.ok()?;
        pass(Point::ToolStart);
        let began = Instant::now();
        let done = work.await;
        pass(Point::ToolFinished);
        Some((done, u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)))
    };
    cancel.run_until_cancelled(timed).await?
}

/// Notes which files others have removed since the checkpoint, before the call can remove any.
async fn look(runner: &Runner, place: Place, before: Option<CheckpointBefore>) {
    let Some(CheckpointBefore { root, saved, started_at }) = before else { return };
    let checkpoints = runner.tools.checkpoints().clone();
    let looked =
        tokio::task::spawn_blocking(move || checkpoints.look(&place, root, &saved, started_at)).await;
    match looked {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::info!(%root, "files that others have removed may count as the task's: {error}");
        }
        Err(error) => tracing::error!(%root, %error, "looking at files did not complete"),
    }
}

/// The task waits for an outcome, so a panic needs one too.
pub(super) fn panicked(task: TaskId, call: CallId, attempt: u32) -> Input {
    tracing::error!(%task, %call, "a tool call panicked; this is a defect");
    let result =
        ToolResult::failure("The tool itself failed; this is a fault in Abide. What it did is unknown.");
    let (outcome, read_results, usage) = (CallOutcome::Done, Vec::new(), None);
    Input::CallFinished { task, call, attempt, outcome, result, duration_ms: 0, read_results, usage }
}
