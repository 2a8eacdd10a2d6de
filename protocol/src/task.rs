//! A task: one autonomous run in a conversation.

use crate::{
    CallId, ConversationId, JsonText, TaskId, Timestamp, inbox::Pending, record::ModelErrorKind,
    transcript::Usage,
};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

/// How a task decides what to do next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(IntoStaticStr, EnumString, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Mode {
    /// One request, one streamed answer; one more answers what somebody wrote meanwhile.
    Chat,
    /// Loops over tools until the agent says it is done.
    Agent,
    /// Reason, act, observe: three phases a step, until the agent has its final answer.
    Roa,
    /// Each step is a plan: a list of calls that the model writes as JSON.
    Plan,
    /// Finds out by its first reply whether it is a chat or an agent.
    #[default]
    Auto,
    /// Asks until the request is clear, splits it among sub-tasks, works beside them, and sums up.
    Tree,
}

impl Mode {
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

    /// The phase that a step begins with; `None`: the mode has no phases. Phases before the first step belong
    /// to step 0.
    #[must_use]
    pub const fn step_phase(self) -> Option<Phase> {
        match self {
            Self::Chat | Self::Agent | Self::Auto => None,
            Self::Roa => Some(Phase::Reason),
            Self::Plan => Some(Phase::Plan),
            Self::Tree => Some(Phase::Act),
        }
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        self.into_str()
    }
}

/// A task's status. If several apply, the first of approval, question, tool, thinking is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(IntoStaticStr, EnumString, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Status {
    /// It works, but no model call and no tool is under way.
    Running,
    /// A model call is under way.
    Thinking,
    ToolExecuting,
    WaitingUser,
    WaitingApproval,
    WaitingChildren,
    Paused,
    Completed,
    Cancelled,
    Error,
}

impl Status {
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

    #[must_use]
    pub const fn has_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled | Self::Error)
    }

    /// A person has to act before it goes on.
    #[must_use]
    pub const fn needs_person(self) -> bool {
        matches!(self, Self::WaitingUser | Self::WaitingApproval)
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        self.into_str()
    }
}

/// Why a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum EndReason {
    Completed,
    StepLimit,
    TimeLimit,
    Stopped,
    Deleted,
    QuestionTimeout,
    Budget,
    Error,
    /// The task above it has ended.
    ParentEnded,
    /// A person declined to answer what it needed to know before it began.
    Declined,
}

impl EndReason {
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Self::Completed | Self::StepLimit | Self::TimeLimit | Self::Declined => Status::Completed,
            Self::Stopped | Self::Deleted | Self::QuestionTimeout | Self::Budget | Self::ParentEnded => {
                Status::Cancelled
            }
            Self::Error => Status::Error,
        }
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        self.into_str()
    }

    /// For people: the status and its cause.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::StepLimit => "step limit reached",
            Self::TimeLimit => "time limit reached",
            Self::Stopped => "cancelled: stopped",
            Self::Deleted => "cancelled: deleted",
            Self::QuestionTimeout => "cancelled: no answer",
            Self::Budget => "cancelled: budget",
            Self::Error => "error",
            Self::ParentEnded => "cancelled: the task above it ended",
            Self::Declined => "completed: its question was declined",
        }
    }
}

/// Why a task is paused. It still takes answers. Every pause but a person's own asks a question, so it is in
/// the inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum PauseReason {
    /// By a person.
    User,
    /// A token or cost limit is reached.
    Budget,
    /// The daemon has ended three times in a row while the task was at work and got no further.
    CrashLoop,
    /// The daemon was restarted, and that is the task's policy.
    Restart,
    /// Its model cannot be asked before a time: a limit of the provider, or an error that stays the same. The
    /// task goes on by itself then; [`Retry::next_at`] says when.
    Parked,
}

impl PauseReason {
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.into_str()
    }

    /// For people: that it is paused, and why.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::User => "paused",
            Self::Budget => "paused: the budget is used up",
            Self::CrashLoop => "paused: the daemon ended three times while it worked",
            Self::Restart => "paused since the restart of the daemon",
            Self::Parked => "parked until its model can be asked again",
        }
    }
}

/// A named part of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(IntoStaticStr, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Phase {
    Reason,
    Act,
    Observe,
    Plan,
    Clarify,
    Inquire,
    Split,
    Summarize,
}

impl Phase {
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

    #[must_use]
    pub const fn name(self) -> &'static str {
        self.into_str()
    }
}

/// Why the reply that a task ended with is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Incomplete {
    /// It was cut at the model's length limit.
    Length,
    /// It has no text and no call.
    Empty,
    /// The provider ended it before the model did.
    Unfinished,
    /// Its calls were written as text and not carried out, or did not come.
    LostCalls,
}

impl Incomplete {
    /// For people, in place of [`EndReason::words`].
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Length => "incomplete: cut at the length limit",
            Self::Empty => "incomplete: empty reply",
            Self::Unfinished => "incomplete: broken off by the provider",
            Self::LostCalls => "incomplete: tool calls that were not carried out",
        }
    }
}

/// The next attempt of a model call that failed, from that failure to the attempt's reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// The number of this attempt, from 2.
    pub attempt: u32,
    /// The most attempts that are made.
    pub of: u32,
    pub kind: ModelErrorKind,
    /// Why the attempt before it failed; for people.
    pub reason: String,
    /// When it begins. In the past: it is under way.
    pub next_at: Timestamp,
}

/// What happens to calls that need a person's approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Approvals {
    #[default]
    Ask,
    /// Allow those that stay in the sandbox; what is denied stays denied.
    Allow,
    /// Allow those that leave the sandbox, too; what is denied stays denied.
    AllowAll,
    /// Allow changes of files by the file tools, but not of what other programs run; what is denied stays
    /// denied.
    AllowEdits,
}

impl Approvals {
    /// Those of one call, which changes a file by a file tool or does something else.
    #[must_use]
    pub const fn of_call(self, is_edit: bool) -> Self {
        match self {
            Self::AllowEdits if is_edit => Self::Allow,
            Self::AllowEdits => Self::Ask,
            others => others,
        }
    }
}

/// What a start of the daemon does with interrupted work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum RestartPolicy {
    #[default]
    Resume,
    /// Ask before going on.
    Ask,
    Pause,
}

/// The limits of a task. 0 means none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    pub max_steps: u32,
    /// Seconds of work: waiting, paused and daemon-down time do not count.
    pub max_duration_secs: u64,
    /// Pause before each step but the first, in ms.
    pub step_delay_ms: u64,
    /// All tokens of all model calls.
    pub max_tokens: u64,
    /// Micro-dollars.
    pub max_cost_micros: u64,
    /// Seconds until an unanswered question cancels the task.
    pub question_timeout_secs: u64,
    /// The deepest sub-task: that of a root has depth 1.
    pub max_depth: u32,
    /// Live sub-tasks of one task, without theirs.
    pub max_children: u32,
    /// Tasks of a tree, the root and ended ones included.
    pub max_tasks: u32,
}

impl Limits {
    const fn usual_depth() -> u32 {
        3
    }

    const fn usual_children() -> u32 {
        8
    }

    const fn usual_tasks() -> u32 {
        64
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: 50,
            max_duration_secs: 1800,
            step_delay_ms: 0,
            max_tokens: 0,
            max_cost_micros: 0,
            question_timeout_secs: 0,
            max_depth: Self::usual_depth(),
            max_children: Self::usual_children(),
            max_tasks: Self::usual_tasks(),
        }
    }
}

/// Names a root task by its age: 1 is the newest one of all conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskAge(pub NonZeroU32);

impl TaskAge {
    /// `last`, `@1`, `@2` and so on.
    #[must_use]
    pub fn parse(typed: &str) -> Option<Self> {
        if typed == "last" {
            return Some(Self(NonZeroU32::MIN));
        }
        let digits = typed.strip_prefix('@').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?;
        digits.parse().ok().map(Self)
    }
}

/// The limits that a request names; those absent come from the daemon's configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LimitsRequest {
    pub max_steps: Option<u32>,
    pub max_duration_secs: Option<u64>,
    pub step_delay_ms: Option<u64>,
    pub max_tokens: Option<u64>,
    pub max_cost_micros: Option<u64>,
    pub question_timeout_secs: Option<u64>,
    pub max_depth: Option<u32>,
    pub max_children: Option<u32>,
    pub max_tasks: Option<u32>,
}

impl LimitsRequest {
    #[must_use]
    pub fn over(&self, defaults: &Limits) -> Limits {
        Limits {
            max_steps: self.max_steps.unwrap_or(defaults.max_steps),
            max_duration_secs: self.max_duration_secs.unwrap_or(defaults.max_duration_secs),
            step_delay_ms: self.step_delay_ms.unwrap_or(defaults.step_delay_ms),
            max_tokens: self.max_tokens.unwrap_or(defaults.max_tokens),
            max_cost_micros: self.max_cost_micros.unwrap_or(defaults.max_cost_micros),
            question_timeout_secs: self.question_timeout_secs.unwrap_or(defaults.question_timeout_secs),
            max_depth: self.max_depth.unwrap_or(defaults.max_depth),
            max_children: self.max_children.unwrap_or(defaults.max_children),
            max_tasks: self.max_tasks.unwrap_or(defaults.max_tasks),
        }
    }
}

/// A task as clients see it. In lists and updates `original_prompt` and `scratchpad` are empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentTask {
    pub id: TaskId,
    pub conversation_id: ConversationId,
    pub parent_id: Option<TaskId>,
    pub mode: Mode,
    pub model: String,
    pub status: Status,
    pub end_reason: Option<EndReason>,
    pub pause_reason: Option<PauseReason>,
    pub original_prompt: String,
    /// What the task has learnt, a line of at most 200 characters each ("Tool X: …", "User answered: …"), the
    /// newest 200; oldest first. In the reply to `getTask` only.
    pub scratchpad: Vec<String>,
    pub step_count: u32,
    pub phase: Option<Phase>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub pending: Vec<Pending>,
    pub active_calls: Vec<ActiveCall>,
    pub error_message: Option<String>,
    pub summary: Option<String>,
    pub usage: Usage,
    pub limits: Limits,
    pub metadata: Option<JsonText>,
    pub children: Vec<TaskId>,
    /// Set if the task ended with an incomplete reply.
    pub incomplete: Option<Incomplete>,
    /// Set while a model call that failed waits for its next attempt, and during that attempt.
    pub retry: Option<Retry>,
    /// How long it has worked.
    pub work: Work,
    /// The id that its client gave it beside `id`.
    pub external_id: Option<String>,
    /// What a sub-task is about; empty for a root task, which its conversation's title names.
    pub title: String,
    /// Tasks above this one; 0: it is a root.
    pub depth: u32,
    /// Absent: it has started no sub-task.
    pub tree: Option<Box<Tree>>,
    /// The result for programs, of a mode that has one; see [`crate::record::TaskEnded::data`].
    pub data: Option<Box<JsonText>>,
    /// What it was allowed in advance.
    pub approvals: Approvals,
}

/// The sub-tasks of a task, at any depth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tree {
    pub live: u32,
    pub ended: u32,
    /// Those of the live ones that wait for a person.
    pub waiting: u32,
    /// Of all of them together.
    pub usage: Usage,
}

/// How long a task has worked. Waiting for a person, pauses and time without a daemon do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Work {
    /// ms; while it works, up to `since`.
    pub ms: u64,
    /// Set while it works.
    pub since: Option<Timestamp>,
}

impl AgentTask {
    /// What it and its sub-tasks have used.
    #[must_use]
    pub fn usage_of_all(&self) -> Usage {
        let mut all = self.usage;
        if let Some(tree) = &self.tree {
            all.add(&tree.usage);
        }
        all
    }

    /// How long it has worked, in ms.
    #[must_use]
    pub fn worked(&self, now: Timestamp) -> u64 {
        self.work.ms + self.work.since.map_or(0, |since| now.since(since))
    }

    /// This task as lists and updates carry it.
    #[must_use]
    pub fn brief(&self) -> Self {
        Self { original_prompt: String::new(), scratchpad: Vec::new(), ..self.clone() }
    }

    /// It is paused, not by a person, and asks nothing itself: it is a sub-task, and a task above it asks
    /// whether to go on.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.status == Status::Paused
            && self.pause_reason != Some(PauseReason::User)
            && self.pending.is_empty()
    }

    /// A person has to act before it goes on.
    #[must_use]
    pub fn needs_person(&self) -> bool {
        self.status.needs_person()
            || self.is_held()
            || self.status == Status::Paused && !self.pending.is_empty()
    }

    /// For people: a pause was asked for, and what is under way finishes first. The task can be resumed
    /// already.
    #[must_use]
    pub const fn pausing(&self) -> Option<&'static str> {
        match self.status {
            _ if self.pause_reason.is_none() => None,
            Status::Thinking => Some("pauses after this reply"),
            Status::ToolExecuting => Some("pauses after this call"),
            _ => None,
        }
    }
}

/// A call that has no result yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveCall {
    pub call_id: CallId,
    pub tool: String,
    /// What it does, in one line.
    pub summary: String,
    pub state: CallState,
    pub started_at: Option<Timestamp>,
    pub attempt: u32,
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum CallState {
    /// Its turn has not come: earlier calls come first.
    Queued,
    WaitingApproval,
    /// It waits for an answer: the call is a question.
    WaitingUser,
    Running,
    Finished,
    /// It waits for sub-tasks.
    WaitingChildren,
}
