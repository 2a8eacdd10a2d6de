//! Carries out a call of the tool `recall`.

use super::{Gate, Runner, ToolJob, tool_call::in_process};
use crate::recall::{self, Found};
use abide_engine::Input;
use abide_store::{ReadError, RecallQuery};
use tokio_util::sync::CancellationToken;

/// Looks for this after the commit of the call's start.
pub(super) async fn run(
    runner: &Runner,
    job: ToolJob,
    query: &str,
    gate: Gate,
    cancel: CancellationToken,
) -> Option<Input> {
    let (recalled, duration_ms) =
        in_process(recall::in_time(Box::pin(find(runner, &job, query))), gate, &cancel).await?;
    let ToolJob { task, call, attempt, .. } = job;
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
