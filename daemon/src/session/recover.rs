//! What a fresh start finds: work that was under way when the last daemon went.

use super::Sessions;
use abide_engine::{CallStage, Finding, History, Input, is_at_work};
use abide_protocol::{
    CallId,
    record::CallAssessed,
    task::{AgentTask, CallState, Status},
};
use abide_store::TaskQuery;
use abide_tools::Tools;

/// For each task that was at work, what became of it. A task that waits for a person has lost nothing and is left alone.
pub(super) async fn inputs(history: &History, tools: &Tools) -> Vec<Input> {
    let mut inputs = Vec::new();
    for task in history.live().filter(|t| is_at_work(t)) {
        let started: Vec<(CallId, u32, CallAssessed)> = task
            .calls()
            .iter()
            .filter_map(|call| match (&call.stage, &call.assessed) {
                (CallStage::Started { attempt, .. }, Some(assessed)) => {
                    Some((call.block.id, *attempt, assessed.clone()))
                }
                _ => None,
            })
            .collect();
        let (tools, workspace) = (tools.clone(), task.head.workspace.clone());
        let inspect = move || {
            started
                .into_iter()
                .map(|(call, attempt, assessed)| {
                    finding(call, tools.inspect(call, attempt, &assessed, &workspace))
                })
                .collect()
        };
        let findings = tokio::task::spawn_blocking(inspect).await.unwrap_or_default();
        inputs.push(Input::Restarted { task: task.id, findings });
    }
    inputs
}

fn finding(call: CallId, found: abide_tools::Inspection) -> Finding {
    Finding { call, output: found.output, edit: found.edit }
}

impl Sessions {
    /// Drops what the last daemon kept of calls whose result is on disk, or whose start never was: it died before it came to that.
    /// `kept` was listed before any call was prepared in this daemon, since nobody knows such a call either before its commit.
    pub async fn drop_settled_output(self, kept: Vec<CallId>) {
        let (tools, store) = (self.inner.runner.tools.clone(), &self.inner.store);
        let dropped = async {
            let settled = store.settled_calls(kept).await?.into_iter().collect();
            tokio::task::spawn_blocking(move || tools.drop_kept(&settled)).await??;
            anyhow::Ok(())
        };
        if let Err(e) = dropped.await {
            tracing::warn!("output of ended calls could not be dropped: {e}");
        }
    }

    /// Takes up every unfinished task that was at work; the others cost nothing until somebody answers them.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn recover(&self) -> Result<(), abide_store::ReadError> {
        for (at, conversation) in self.inner.store.wakes().await? {
            self.inner.alarm.set(conversation, Some(at));
        }
        let mut cursor = None;
        loop {
            let (tasks, next) =
                self.inner.store.tasks(TaskQuery { cursor, limit: 1000, ..TaskQuery::default() }).await?;
            for task in tasks.iter().filter(|t| looks_at_work(t)) {
                drop(self.mailbox(task.conversation_id));
            }
            if next.is_none() {
                return Ok(());
            }
            cursor = next;
        }
    }
}

/// As far as the view tells. (A queued call may have been allowed in the moment in which the last daemon went.)
fn looks_at_work(task: &AgentTask) -> bool {
    matches!(task.status, Status::Running | Status::Thinking | Status::ToolExecuting)
        || task.active_calls.iter().any(|call| matches!(call.state, CallState::Running | CallState::Queued))
}
