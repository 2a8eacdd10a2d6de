//! Carries out what running tasks want: model calls and tools. Outcomes go back to the conversation's actor as inputs.

mod coalesce;
mod model_call;
mod tool_call;

use crate::{catalog::Catalog, events::Hub, supervisor::Supervisor};
use abide_engine::{Effect, Input};
use abide_model::ModelRequest;
use abide_protocol::{
    CallId, ConversationId, RecordId, TaskId,
    record::TaskStarted,
};
use abide_store::Store;
use abide_tools::{Run, Tools};
use std::{future::Future, pin::Pin, sync::Arc};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Opened when what led to the work is committed; closed unopened if that failed.
pub type Gate = watch::Receiver<bool>;

/// Takes an outcome to its conversation.
pub type Deliver = Box<dyn FnOnce(Effect, Input) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// What is to be done.
pub enum Job {
    Model(Box<ModelJob>),
    Tool(Box<ToolJob>),
}

/// A model call.
pub struct ModelJob {
    pub conversation: ConversationId,
    pub task: TaskId,
    pub item: RecordId,
    pub attempt: u32,
    pub head: Arc<TaskStarted>,
    pub request: ModelRequest,
}

/// A tool call.
pub struct ToolJob {
    pub conversation: ConversationId,
    pub task: TaskId,
    pub call: CallId,
    pub attempt: u32,
    pub run: Run,
}

/// Cheap to clone.
#[derive(Clone)]
pub struct Runner {
    pub(crate) catalog: Catalog,
    pub(crate) tools: Tools,
    pub(crate) store: Store,
    pub(crate) hub: Hub,
    pub(crate) supervisor: Supervisor,
}

impl Runner {
    /// Begins a job; it ends with one outcome, or with none if `cancel` or the gate says so.
    pub fn start(&self, job: Job, gate: Gate, cancel: CancellationToken, deliver: Deliver) {
        let runner = self.clone();
        match job {
            Job::Model(job) => self.supervisor.spawn("model call", async move {
                let effect = Effect::Model { task: job.task, item: job.item, attempt: job.attempt };
                let work = Box::pin(model_call::run(&runner, *job, gate));
                if let Some(Some(input)) = cancel.run_until_cancelled(work).await {
                    deliver(effect, input).await;
                }
            }),
            // A tool is told to stop, not dropped: its processes have to be gone before it is forgotten.
            Job::Tool(job) => self.supervisor.spawn("tool call", async move {
                let effect = Effect::Tool { task: job.task, call: job.call, attempt: job.attempt };
                if let Some(input) = tool_call::run(&runner, *job, gate, cancel).await {
                    deliver(effect, input).await;
                }
            }),
        }
    }
}
