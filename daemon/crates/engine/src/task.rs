//! The state of one task.

use crate::clock::Clock;
use abide_protocol::{
    ApprovalId, CallId, QuestionId, RecordId, TaskId, Timestamp,
    inbox::{Approval, Question, QuestionKind},
    message::CallOutcome,
    record::{CallAssessed, ModelErrorKind, TaskEnded, TaskStarted},
    task::{Incomplete, Limits, PauseReason, Phase},
    transcript::{CallBlock, EffectClass, Entry, StopReason, ToolResult, Transcript, Usage},
};
use std::{collections::BTreeMap, sync::Arc};

/// A task, as its records tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub id: TaskId,
    /// Its frozen first record.
    pub head: Arc<TaskStarted>,
    pub started_at: Timestamp,
    pub stage: Stage,
    pub paused: Option<PauseReason>,
    /// What happened last that the mode has to decide about.
    pub last: Last,
    /// Steps begun.
    pub step: u32,
    pub usage: Usage,
    pub limits: Limits,
    pub questions: BTreeMap<QuestionId, Question>,
    pub approvals: BTreeMap<ApprovalId, Approval>,
    /// Tasks directly beneath it, ended or not, in the order in which they were started.
    pub children: Vec<TaskId>,
    /// Why a task above it holds it: nothing of it begins before that one goes on.
    pub held: Option<PauseReason>,
    /// What its model is sent after the system prompt. Root tasks go on with that of the root before; of a task beneath a root nothing is
    /// left at its end.
    pub(crate) transcript: Transcript,
    /// How many entries of the transcript are of earlier root tasks: the first ones.
    pub(crate) inherited: usize,
    /// Entries that came while a reply or results are due; they are appended to the transcript after those.
    pub(crate) deferred: Vec<Entry>,
    /// Replies in a row with text and no call.
    pub(crate) text_streak: u32,
    /// Replies in a row that were cut at the length limit.
    pub(crate) cut_streak: u32,
    /// A request has reached the provider.
    pub(crate) was_reached: bool,
    pub(crate) repeats: Repeats,
    pub(crate) budget_alerted: bool,
    pub(crate) clock: Clock,
    /// Since when nothing is under way.
    pub(crate) idle_since: Timestamp,
}

/// What is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Nothing: the mode decides.
    Idle,
    Thinking {
        item: RecordId,
        attempt: u32,
        phase: Option<Phase>,
    },
    /// A model call failed; the next attempt waits for its time.
    Backoff {
        failed: u32,
        until: Timestamp,
        phase: Option<Phase>,
        kind: ModelErrorKind,
        /// For people.
        reason: String,
    },
    /// The calls of a reply, in the model's order; not all are finished.
    Calling(Vec<Call>),
    Ended {
        at: Timestamp,
        end: TaskEnded,
    },
}

/// A call of the reply that is being carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub block: CallBlock,
    /// `None` only until its `call_assessed` record is folded.
    pub assessed: Option<CallAssessed>,
    pub stage: CallStage,
    /// Attempts begun.
    pub attempts: u32,
    /// A person allowed this very call.
    pub by_person: bool,
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallStage {
    Queued,
    Approval(ApprovalId),
    /// It may run; its turn has not come.
    Allowed,
    Started {
        attempt: u32,
        at: Timestamp,
    },
    /// It is a question.
    Asking(QuestionId),
    Finished {
        outcome: CallOutcome,
        result: ToolResult,
    },
}

/// What the mode has to decide about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Last {
    /// The task has just begun.
    Start,
    /// A reply without calls, of so many tokens of output (0 where the provider does not say).
    Text { text: String, stop: StopReason, output: u64 },
    /// All calls of a reply have their results; `complete` is the summary of an accepted `task_complete`.
    Results { complete: Option<String> },
    /// The model was told something.
    Nudged,
}

/// Identical calls in a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Repeats {
    pub(crate) tool: String,
    pub(crate) arguments: String,
    pub(crate) count: u32,
}

impl Repeats {
    pub(crate) fn see(&mut self, tool: &str, arguments: &str) {
        if self.tool == tool && self.arguments == arguments {
            self.count += 1;
        } else {
            *self = Self { tool: tool.to_owned(), arguments: arguments.to_owned(), count: 1 };
        }
    }
}

impl Task {
    pub(crate) fn new(id: TaskId, at: Timestamp, head: Arc<TaskStarted>, transcript: Transcript) -> Self {
        Self {
            id,
            started_at: at,
            stage: Stage::Idle,
            paused: None,
            last: Last::Start,
            step: 0,
            usage: Usage::default(),
            limits: head.limits,
            questions: BTreeMap::new(),
            approvals: BTreeMap::new(),
            children: Vec::new(),
            held: None,
            inherited: transcript.entries().len(),
            transcript,
            deferred: Vec::new(),
            text_streak: 0,
            cut_streak: 0,
            was_reached: false,
            repeats: Repeats::default(),
            budget_alerted: false,
            clock: Clock::started(at),
            idle_since: at,
            head,
        }
    }

    #[must_use]
    pub const fn has_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended { .. })
    }

    /// What its model is sent after the system prompt.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The transcript's entries.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        self.transcript.entries()
    }

    /// Why nothing beneath it begins, if so: it or a task above it is paused, or asks whether to go on after a restart.
    pub(crate) fn holds(&self) -> Option<PauseReason> {
        let asks = || self.questions.values().any(|q| q.kind == QuestionKind::Restart);
        self.paused.or(self.held).or_else(|| asks().then_some(PauseReason::Restart))
    }

    /// Nothing of it begins: it is paused or held, or a question has to be answered first.
    pub(crate) fn waits(&self) -> bool {
        self.paused.is_some() || self.held.is_some() || self.gate().is_some()
    }

    /// The calls that are being carried out.
    #[must_use]
    pub fn calls(&self) -> &[Call] {
        if let Stage::Calling(calls) = &self.stage { calls } else { &[] }
    }

    #[must_use]
    pub fn call(&self, id: CallId) -> Option<&Call> {
        self.calls().iter().find(|c| c.block.id == id)
    }

    /// A question that nothing new may begin before: any but the agent's own.
    #[must_use]
    pub fn gate(&self) -> Option<&Question> {
        self.questions.values().find(|q| q.kind != QuestionKind::Agent)
    }

    /// What the last reply lacks, if it is the last thing that happened.
    pub(crate) fn incomplete(&self) -> Option<Incomplete> {
        match &self.last {
            Last::Text { stop: StopReason::Length, .. } => Some(Incomplete::Length),
            Last::Text { text, .. } if text.trim().is_empty() => Some(Incomplete::Empty),
            Last::Text { .. } | Last::Start | Last::Results { .. } | Last::Nudged => None,
        }
    }

    /// A model call or a tool is under way.
    #[must_use]
    pub fn in_flight(&self) -> bool {
        match &self.stage {
            Stage::Thinking { .. } => true,
            Stage::Calling(calls) => calls.iter().any(|c| matches!(c.stage, CallStage::Started { .. })),
            Stage::Idle | Stage::Backoff { .. } | Stage::Ended { .. } => false,
        }
    }
}

impl Call {
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        matches!(self.stage, CallStage::Finished { .. })
    }

    #[must_use]
    pub fn effect(&self) -> EffectClass {
        self.assessed.as_ref().map_or(EffectClass::Unsafe, |p| p.effect)
    }

    /// What will confine its processes, as it is recorded.
    #[must_use]
    pub fn sandbox(&self) -> String {
        self.assessed.as_ref().map_or("none", |p| &p.sandbox).to_owned()
    }
}
