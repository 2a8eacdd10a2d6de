//! What the engine accepts: commands with what the daemon knows of them, and the world's outcomes.

use crate::history::First;
use abide_protocol::{
    ApprovalId, CallId, QuestionId, RecordId, TaskId,
    inbox::{Decision, Rule},
    message::CallOutcome,
    record::{
        By, CallAssessed, ConversationCreated, ConversationUpdated, EditState, Interruption, ModelErrorKind,
        TaskStarted, Trace,
    },
    task::EndReason,
    transcript::{Reply, ToolResult},
};
use std::collections::BTreeMap;

/// A command or an outcome.
#[derive(Debug, Clone)]
pub enum Input {
    Create(ConversationCreated),
    Update(ConversationUpdated),
    Archive {
        archived: bool,
    },
    /// What this conversation has remembered of this call no longer counts.
    ForgetRule(Rule),
    Start(Box<Start>),
    /// No client's: a task starts another one beneath it.
    Fork(Box<Fork>),
    Stop {
        task: TaskId,
        shown: Shown,
    },
    Pause {
        task: TaskId,
    },
    Resume {
        task: TaskId,
    },
    /// `None` declines.
    Answer {
        task: TaskId,
        question: QuestionId,
        response: Option<String>,
        by: Option<By>,
    },
    Decide {
        approval: ApprovalId,
        decision: Decision,
        note: Option<String>,
        by: Option<By>,
    },
    /// A model call came to its end; `assessed` says what is known of each of the reply's calls, in order.
    Replied {
        task: TaskId,
        item: RecordId,
        reply: Reply,
        assessed: Vec<CallAssessed>,
        traces: Traces,
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
    },
    /// A moment given by [`crate::wake_at`] has come.
    Wake,
    /// What the records say is under way is not; a finding for each call that was started.
    Interrupted {
        cause: Interruption,
        findings: Vec<Finding>,
    },
}

/// What people have seen of replies that are under way, by the item of the model call.
pub type Shown = BTreeMap<RecordId, String>;

/// A new task, everything about it decided.
#[derive(Debug, Clone)]
pub struct Start {
    pub task: TaskId,
    /// For a conversation that does not exist yet.
    pub conversation: Option<ConversationCreated>,
    pub head: TaskStarted,
}

/// A task beneath a live one.
#[derive(Debug, Clone)]
pub struct Fork {
    pub parent: TaskId,
    pub task: TaskId,
    /// Everything about it; whose child it is, and how deep, is filled in.
    pub head: TaskStarted,
}

/// A failed attempt of a model call.
#[derive(Debug, Clone)]
pub struct ModelFailure {
    pub kind: ModelErrorKind,
    pub message: String,
    /// Another attempt may go well.
    pub retryable: bool,
    /// The provider's wish, in ms.
    pub retry_after_ms: Option<u64>,
    /// The request left.
    pub sent: bool,
}

/// What an attempt's stream held that its reply goes without.
#[derive(Debug, Clone, Default)]
pub struct Traces {
    pub kept: Vec<Trace>,
    /// So many more came.
    pub left_out: u64,
}

/// What is known, after an interruption, of a call that was started and has no result.
#[derive(Debug, Clone)]
pub struct Finding {
    pub call: CallId,
    /// The output so far.
    pub output: String,
    pub edit: EditState,
}

/// Why an input changes nothing.
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
    #[error("the task is not paused")]
    NotPaused,
    #[error("the task has no such question")]
    NoQuestion,
    #[error("there is no such approval")]
    NoApproval,
    #[error("the question has its answer already")]
    Answered(First<Option<String>>),
    #[error("the approval is decided already")]
    Decided(First<Decision>),
    #[error("the question takes one of these answers: {}", .0.join(", "))]
    NotAChoice(Vec<String>),
    /// An outcome of an attempt that no longer counts.
    #[error("the outcome is of an attempt that no longer counts")]
    Stale,
}
