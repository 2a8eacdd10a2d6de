//! The command that a person has configured for new worktrees, as a call of the task.

use super::{Runner, model_call};
use crate::clock;
use abide_protocol::{
    CallId, JsonText,
    record::{CallAssessed, TaskStarted},
    transcript::CallBlock,
};
use serde_json::json;
use std::sync::Arc;

/// The tool that runs it.
const TOOL: &str = "shell";

impl Runner {
    /// The setup of a task with this first record, assessed as a call of its model would be; `None`: there is
    /// none.
    pub(crate) async fn setup(&self, head: &TaskStarted) -> Option<CallAssessed> {
        let command = self.settings.recent().await.config().worktree.setup.clone()?;
        let path = head.environment.get("PATH").cloned();
        let tools = self.tools.clone();
        // Also for a task that has no such tool.
        let tools = tokio::task::spawn_blocking(move || tools.specs(path.as_deref())).await.ok()?;
        let head = TaskStarted { tools, ..head.clone() };
        let call = CallBlock {
            id: CallId(clock::mint().uuid()),
            provider_id: String::new(),
            tool: TOOL.to_owned(),
            arguments: JsonText::from(json!({ "command": command })).as_str().to_owned(),
            opaque: None,
        };
        model_call::assess(self, Arc::new(head), vec![call]).await.pop()
    }
}
