//! Runs jobs: model calls, tool calls, forks that need a worktree, checkpoints and undos. Outcomes go back to
//! the conversation's actor as inputs.

mod coalesce;
mod files;
mod fork;
mod inference;
mod model_call;
mod recall;
mod setup;
mod tool_call;
mod traces;

use crate::{embedder::Embedder, events::Hub, settings::Settings, supervisor::Supervisor};
use abide_engine::{CheckpointBefore, Effect, Input, Turn};
use abide_model::ModelRequest;
use abide_protocol::{CallId, ConversationId, RecordId, TaskId, record::TaskStarted};
use abide_store::Store;
use abide_tools::{Run, SubTasks, Tools};
use futures_util::{FutureExt as _, future::join_all};
use std::{
    convert::Infallible, future::Future, panic::AssertUnwindSafe, pin::Pin, sync::Arc, time::Duration,
};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

/// How long cancelled attempts may take to end: longer than processes have to. A disk that hangs must not
/// hold up a stop for ever.
const PATIENCE: Duration = Duration::from_secs(30);

pub use files::{CheckpointJob, UndoJob, place_of};
pub use fork::{ForkJob, Forks};

/// Opens when what led to the attempt is committed; the sender is dropped if the append failed. Before it
/// opens no tool call acts, and nothing of a model call is shown.
pub type Gate = watch::Receiver<bool>;

/// Delivers an outcome to its conversation.
pub type Deliver = Box<dyn FnOnce(Effect, Input) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// An attempt under way. Dropping it cancels the attempt.
pub struct Attempt {
    cancel: DropGuard,
    /// Its sender is dropped when nothing of the attempt is under way any more: no process, no write.
    over: oneshot::Receiver<Infallible>,
}

impl Attempt {
    /// Cancels the attempts and waits until nothing of them is under way.
    pub async fn end_all(attempts: impl Iterator<Item = Self>) {
        let cancelled = attempts.map(|Self { cancel, over }| {
            drop(cancel);
            over
        });
        // All are cancelled before the first is waited for.
        let cancelled: Vec<_> = cancelled.collect();
        if tokio::time::timeout(PATIENCE, join_all(cancelled)).await.is_err() {
            tracing::warn!("a cancelled call has not ended after {} s; it is left", PATIENCE.as_secs());
        }
    }
}

/// An attempt to run.
pub enum Job {
    Model(Box<ModelJob>),
    Tool(Box<ToolJob>),
    Fork(Box<ForkJob>),
    Checkpoint(CheckpointJob),
    Undo(UndoJob),
}

/// A model call.
pub struct ModelJob {
    pub conversation: ConversationId,
    pub task: TaskId,
    pub item: RecordId,
    pub attempt: u32,
    pub head: Arc<TaskStarted>,
    pub turn: Turn,
    pub request: ModelRequest,
    /// A person has been told that the server cuts what it is sent.
    pub knows_cut: bool,
}

/// A tool call.
pub struct ToolJob {
    pub conversation: ConversationId,
    pub task: TaskId,
    pub call: CallId,
    pub attempt: u32,
    /// Of the task that calls.
    pub head: Arc<TaskStarted>,
    pub run: Run,
    /// Set if this call is the first after it that may change something.
    pub checkpoint_before: Option<CheckpointBefore>,
    /// What its code may ask for.
    pub sub_tasks: Box<dyn SubTasks>,
}

/// Cheap to clone.
#[derive(Clone)]
pub struct Runner {
    pub(crate) settings: Settings,
    pub(crate) tools: Tools,
    pub(crate) store: Store,
    pub(crate) embedder: Embedder,
    pub(crate) hub: Hub,
    pub(crate) supervisor: Supervisor,
}

impl Runner {
    /// Starts a job. It ends with one outcome, or with none if it is cancelled or its gate is dropped.
    #[must_use]
    pub fn start(&self, job: Job, gate: Gate, deliver: Deliver) -> Attempt {
        let runner = self.clone();
        let (cancel, (under_way, over)) = (CancellationToken::new(), oneshot::channel());
        let attempt = Attempt { cancel: cancel.clone().drop_guard(), over };
        match job {
            Job::Model(job) => self.supervisor.spawn("model call", async move {
                let (task, item) = (job.task, job.item);
                let effect = Effect::Model { task, item, attempt: job.attempt };
                let work = Box::pin(model_call::run(&runner, *job, gate));
                let ended = cancel.run_until_cancelled(AssertUnwindSafe(work).catch_unwind()).await;
                // The actor may be waiting for the end, and then it takes no messages.
                drop(under_way);
                let Some(ended) = ended else { return };
                let outcome = ended.unwrap_or_else(|_| Some(model_call::panicked(&runner, task, item)));
                if let Some(input) = outcome {
                    deliver(effect, input).await;
                }
            }),
            // A tool call is told to stop, not dropped: its processes must end first.
            Job::Tool(job) => self.supervisor.spawn("tool call", async move {
                let (task, call, attempt) = (job.task, job.call, job.attempt);
                let effect = Effect::Tool { task, call, attempt };
                let work = Box::pin(tool_call::run(&runner, *job, gate, cancel.clone()));
                let ended = AssertUnwindSafe(work).catch_unwind().await;
                drop(under_way);
                let outcome = ended.unwrap_or_else(|_| Some(tool_call::panicked(task, call, attempt)));
                if let Some(input) = outcome {
                    deliver(effect, input).await;
                }
            }),
            Job::Fork(job) => self.supervisor.spawn("fork", async move {
                let (task, call, attempt) = (job.task, job.call, job.attempt);
                let work = Box::pin(fork::run(&runner, *job, gate, cancel));
                let ended = AssertUnwindSafe(work).catch_unwind().await;
                drop(under_way);
                let outcome = ended.unwrap_or_else(|_| Some(tool_call::panicked(task, call, attempt)));
                if let Some(input) = outcome {
                    deliver(Effect::Tool { task, call, attempt }, input).await;
                }
            }),
            Job::Checkpoint(job) => self.supervisor.spawn("checkpoint of files", async move {
                let effect = job.effect();
                let work = Box::pin(files::checkpoint(&runner, job, gate, cancel));
                let ended = AssertUnwindSafe(work).catch_unwind().await;
                drop(under_way);
                if let Some(input) = ended.unwrap_or_else(|_| files::panicked(effect)) {
                    deliver(effect, input).await;
                }
            }),
            Job::Undo(job) => self.supervisor.spawn("undo", async move {
                let effect = job.effect();
                let work = Box::pin(files::undo(&runner, job, gate, cancel));
                let ended = AssertUnwindSafe(work).catch_unwind().await;
                drop(under_way);
                if let Some(input) = ended.unwrap_or_else(|_| files::panicked(effect)) {
                    deliver(effect, input).await;
                }
            }),
        }
        attempt
    }
}
