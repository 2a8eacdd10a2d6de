//! The engine's inputs: clients' commands, and outcomes.

use crate::{
    decide::command::Command,
    mode::reading::Reading,
    state::{
        history::{First, History},
        task::{Stage, Task},
    },
};
use abide_protocol::{
    CallId, RecordId, TaskId, Timestamp,
    checkpoint::{CheckpointState, UndoResult},
    inbox::Decision,
    message::CallOutcome,
    record::{CallAssessed, EditState, ForkedBy, Interruption, ModelErrorKind, Recalled, Trace},
    task::EndReason,
    transcript::{Reply, ToolResult},
};

/// A command or an outcome.
#[derive(Debug, Clone)]
pub enum Input {
    Command(Command),
    /// Running code starts a sub-task of its task; no client can.
    Fork(Fork),
    /// A model call has ended with a reply.
    Replied {
        task: TaskId,
        item: RecordId,
        replied: Box<Replied>,
    },
    ModelFailed {
        task: TaskId,
        item: RecordId,
        failure: ModelFailure,
        traces: Traces,
    },
    CallFinished {
        task: TaskId,
        call: CallId,
        attempt: u32,
        outcome: CallOutcome,
        result: ToolResult,
        duration_ms: u64,
        /// The sub-tasks whose results its code has read.
        read_results: Vec<TaskId>,
    },
    /// A call of `recall` has ended, with what was found; `None`: nothing was.
    Recalled {
        task: TaskId,
        call: CallId,
        attempt: u32,
        recalled: Option<Recalled>,
        duration_ms: u64,
    },
    /// A checkpoint was made, or none could be.
    Checkpointed {
        task: TaskId,
        number: u32,
        state: CheckpointState,
    },
    /// An undo is over.
    Undone {
        undo: RecordId,
        result: UndoResult,
    },
    /// A time given by [`crate::wake_at`] has come.
    Wake,
    /// The attempts that the records list as running do not run; `findings` are about the calls among them.
    Interrupted {
        cause: Interruption,
        findings: Vec<Finding>,
        /// The daemon before this one certainly ran until then.
        ran_until: Option<Timestamp>,
    },
}

impl From<Command> for Input {
    fn from(command: Command) -> Self {
        Self::Command(command)
    }
}

/// A sub-task for which a running call asks. A call and an index stand for one sub-task, however often it is
/// asked for.
#[derive(Debug, Clone)]
pub struct Fork {
    pub parent: TaskId,
    pub call: CallId,
    pub attempt: u32,
    /// Its number among the forks of the call.
    pub index: u32,
    /// The sub-task's id, if this starts it.
    pub task: TaskId,
    pub prompt: String,
    /// Names of the tools that it may use; `None`: all that its parent may.
    pub tools: Option<Vec<String>>,
    /// A work tree of its own; `None`: it works where its parent does.
    pub place: Option<OwnPlace>,
}

/// Where a sub-task works that has a work tree of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPlace {
    /// An absolute path.
    pub workspace: String,
    pub branch: String,
    /// A call that comes before its first step.
    pub setup: Option<Box<CallAssessed>>,
}

impl Fork {
    pub(crate) const fn by(&self) -> ForkedBy {
        ForkedBy { call_id: self.call, index: self.index }
    }
}

/// A model's reply, with what is recorded beside it.
#[derive(Debug, Clone)]
pub struct Replied {
    pub reply: Reply,
    /// What [`crate::Turn::read`] has read in it.
    pub reading: Reading,
    /// An entry for each of its calls, in order.
    pub assessed: Vec<CallAssessed>,
    pub traces: Traces,
    /// What the server says about its context window, in words; asked only if [`crate::compaction::is_cut`].
    pub window: Option<String>,
}

/// A failed attempt of a model call.
#[derive(Debug, Clone)]
pub struct ModelFailure {
    pub kind: ModelErrorKind,
    pub message: String,
    /// Whether another attempt may succeed.
    pub retryable: bool,
    /// The provider's `Retry-After`, in ms.
    pub retry_after_ms: Option<u64>,
    /// The request was sent.
    pub sent: bool,
    /// The text that clients were shown of the reply.
    pub shown: String,
}

/// Parts of an attempt's stream that are kept beside the reply.
#[derive(Debug, Clone, Default)]
pub struct Traces {
    pub kept: Vec<Trace>,
    /// The number of further parts that were dropped.
    pub left_out: u64,
}

/// What is known of a call that was interrupted.
#[derive(Debug, Clone)]
pub struct Finding {
    pub call: CallId,
    /// The output so far.
    pub output: String,
    pub edit: EditState,
}

/// Why an input was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the conversation does not exist")]
    NoConversation,
    #[error("the conversation has no such task")]
    NoTask,
    #[error("the task has ended ({})", .0.name())]
    Ended(EndReason),
    #[error("the conversation has a running task ({0}): wait for it, answer it, or stop it first")]
    TaskRunning(TaskId),
    #[error("task {} is at work: pause it or stop it first", .0.short())]
    AtWork(TaskId),
    #[error("an undo of this conversation is under way: wait for its end")]
    Undoing,
    #[error("the task is not paused")]
    NotPaused,
    /// By that task, the nearest above that is paused or asks whether to go on.
    #[error("task {} above it holds it: resume that one, or answer its question", .0.short())]
    Held(TaskId),
    #[error("the question is not open any more: the task goes on without an answer")]
    NoQuestion,
    #[error("the approval is not open any more: its task has ended, or goes on without a decision")]
    NoApproval,
    /// The texts of the rules that it offers.
    #[error("the approval does not offer this rule; {}", offered(.0))]
    NoSuchRule(Vec<String>),
    #[error("this call can only be allowed once: {0}")]
    OnlyOnce(String),
    #[error(
        "this call does not ask only because what it does could not be undone, so it cannot be allowed for the whole task"
    )]
    NotForTask,
    #[error("the question is already answered")]
    Answered(First<Option<String>>),
    #[error("the approval is already decided")]
    Decided(First<Decision>),
    #[error("the question takes one of these answers: {}", .0.join(", "))]
    NotAChoice(Vec<String>),
    /// Why there can be no further sub-task, in words for a model.
    #[error("{0}")]
    NotForked(String),
    #[error("the outcome is of an attempt that no longer counts")]
    Stale,
}

fn offered(rules: &[String]) -> String {
    match rules {
        [] => "it offers none that matches more than this very call".to_owned(),
        rules => format!("it offers {}", rules.join(", ")),
    }
}

/// The task of this id.
///
/// # Errors
/// There is none, or it has ended.
pub(crate) fn live(history: &History, id: TaskId) -> Result<&Task, Refusal> {
    let task = history.task(id).ok_or(Refusal::NoTask)?;
    match &task.stage {
        Stage::Ended { end, .. } => Err(Refusal::Ended(end.reason)),
        _ => Ok(task),
    }
}
