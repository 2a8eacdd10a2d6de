//! Carries out a call of the tool `recall`.

use super::{Gate, Runner, ToolJob};
use crate::recall::{self, Found};
use abide_engine::Input;
use abide_fail_point::{Point, pass};
use abide_store::{ReadError, RecallQuery};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Looks for this after the commit of the call's start.
pub(super) async fn run(
    runner: &Runner,
    job: ToolJob,
    query: &str,
    mut gate: Gate,
    cancel: CancellationToken,
) -> Option<Input> {
    let work = async {
        gate.wait_for(|open| *open).await.ok()?;
        pass(Point::ToolStart);
        let began = Instant::now();
        let recalled = recall::in_time(find(runner, &job, query)).await;
        pass(Point::ToolFinished);
        Some((recalled, began.elapsed()))
    };
    let (recalled, took) = cancel.run_until_cancelled(work).await??;
    let ToolJob { task, call, attempt, .. } = job;
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    Some(Input::Recalled { task, call, attempt, recalled, duration_ms })
}

async fn find(runner: &Runner, job: &ToolJob, query: &str) -> Result<Found, ReadError> {
    let conversation = runner.store.conversation(job.conversation).await?;
    // It may have been turned off since the task began.
    if !recall::is_open(runner.settings.recent().await.config(), conversation.as_ref()) {
        return Ok(Found::NOTHING);
    }
    let workspaces = recall::scope(&job.run.workspace).await;
    let query = RecallQuery {
        texts: &[query],
        workspaces: Some(&workspaces),
        except: Some(job.conversation),
        limit: recall::MOST,
        ..RecallQuery::default()
    };
    recall::search(&runner.store, &runner.embedder, query).await
}
