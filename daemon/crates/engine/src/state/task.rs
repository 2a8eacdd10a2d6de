//! The state of one task.

use crate::{
    mode::{
        rules::{Action, Facts, Last, Table},
        task_mode::{TaskMode, table},
        turn::Turn,
    },
    state::{clock::Clock, manifest::Manifest},
};
use abide_protocol::{
    ApprovalId, CallId, QuestionId, RecordId, TaskId, Timestamp,
    inbox::{Approval, Question, QuestionKind},
    message::CallOutcome,
    record::{CallAssessed, ModelErrorKind, TaskEnded, TaskStarted},
    task::{Incomplete, Limits, PauseReason, Phase},
    transcript::{CallBlock, EffectClass, Entry, StopReason, ToolResult, Transcript, Usage},
};
use std::{collections::BTreeMap, sync::Arc};

/// A task's state, folded from its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub id: TaskId,
    /// Its frozen first record.
    pub head: Arc<TaskStarted>,
    pub started_at: Timestamp,
    pub stage: Stage,
    pub paused: Option<PauseReason>,
    /// How the task decides, and what its mode remembers.
    pub(crate) mode: TaskMode,
    /// The files that the user named and that its tools have written.
    pub files: Manifest,
    /// The last event that the mode decides about.
    pub last: Last,
    /// The text of the newest reply, as people saw it. It may be blank.
    pub(crate) shown: String,
    /// The newest text of a reply or an update that is not blank.
    pub(crate) said: String,
    /// A line for each result of the newest calls; none once another step has begun.
    pub(crate) results: Vec<String>,
    /// The number of steps begun.
    pub step: u32,
    /// The step before which the engine has recalled; 0: before none.
    pub(crate) recalled_before: u32,
    pub usage: Usage,
    pub limits: Limits,
    pub questions: BTreeMap<QuestionId, Question>,
    pub approvals: BTreeMap<ApprovalId, Approval>,
    /// Direct sub-tasks, ended or not, in the order in which they were started.
    pub children: Vec<TaskId>,
    /// Why an ancestor holds the task. A held task begins nothing until that ancestor goes on.
    pub held: Option<PauseReason>,
    /// The entries that its model is sent after the system prompt. A root task continues the transcript of
    /// the previous root; a sub-task's transcript is dropped at its end.
    pub(crate) transcript: Transcript,
    /// The number of entries, at the start of the transcript, that are from earlier root tasks.
    pub(crate) inherited: usize,
    /// Something works beneath it; kept for a root task, whose time limit counts that too.
    pub(crate) works_below: bool,
    /// Something has come that its model has not been sent yet: a sub-task's result, somebody's words, or a
    /// note.
    pub(crate) has_unread: bool,
    /// Its model has been told which sub-tasks are at work, as it wanted to end; it has started none since.
    pub(crate) knows_live_children: bool,
    /// What takes the place of its prompt since a person has replaced its instructions.
    pub(crate) instructions: Option<String>,
    /// Where its steps begin in the transcript, those that are not shortened.
    pub(crate) steps: Vec<Step>,
    /// How much of the transcript the provider has counted.
    pub(crate) counted: Counted,
    /// Entries that came while a reply or results were due. They are appended to the transcript after those.
    pub(crate) deferred: Vec<Deferred>,
    /// A request of this task has reached the provider.
    pub(crate) was_reached: bool,
    pub(crate) repeats: Repeats,
    pub(crate) budget_alerted: bool,
    /// A person has been told that the model's server cuts what it is sent.
    pub knows_cut: bool,
    pub(crate) clock: Clock,
    /// When the task last became idle.
    pub(crate) idle_since: Timestamp,
}

/// An entry that is not in the transcript yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Deferred {
    pub(crate) entry: Entry,
    /// The sub-tasks whose results it gives.
    pub(crate) results_of: Vec<TaskId>,
}

/// What the task is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Nothing; the mode decides what comes next.
    Idle,
    /// A model call is under way.
    Thinking {
        item: RecordId,
        attempt: u32,
        phase: Option<Phase>,
        /// The attempt before this one.
        before: Option<Failed>,
    },
    /// A model call failed and waits for its next attempt.
    Backoff {
        /// The reply that the failed attempt was to give.
        item: RecordId,
        phase: Option<Phase>,
        failed: Failed,
    },
    /// The calls of a reply are carried out, in the model's order; not all are finished.
    Calling(Vec<Call>),
    Ended {
        at: Timestamp,
        end: TaskEnded,
    },
}

/// A failed attempt of a model call that another attempt follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    pub attempt: u32,
    /// The earliest time of the next attempt.
    pub until: Timestamp,
    pub kind: ModelErrorKind,
    /// For people.
    pub reason: String,
    /// How many attempts in a row have failed for this reason.
    pub alike: u32,
    /// The task was parked after this attempt or one before it.
    pub was_parked: bool,
}

/// A call of the reply that is being carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub block: CallBlock,
    /// `None` only until its `call_assessed` record is folded.
    pub assessed: Option<CallAssessed>,
    pub stage: CallStage,
    /// The number of attempts begun.
    pub attempts: u32,
    /// A person approved this call.
    pub by_person: bool,
    pub origin: Origin,
}

/// Where a call comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It is a block of the provider's reply.
    Reply,
    /// It was read in the reply's text, or is the task's setup: the provider does not know of it.
    Text,
    /// The engine recalls before a step. The model reads what was recalled, and no result.
    Step,
}

/// The state of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallStage {
    /// Not assessed yet, or without permission to run yet.
    Queued,
    /// It waits for this approval.
    Approval(ApprovalId),
    /// It may run, and has not started.
    Allowed,
    Started {
        attempt: u32,
        at: Timestamp,
    },
    /// It asks this question, and waits for the answer.
    Asking(QuestionId),
    /// It waits until these sub-tasks have ended.
    Joining(Vec<TaskId>),
    Finished {
        outcome: CallOutcome,
        result: ToolResult,
    },
}

/// A step in the transcript. It ends where the next one begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) number: u32,
    /// The place of its first entry.
    pub(crate) start: usize,
    /// What the agent reported in it by an observation, a plan or an update, the newest of them, on one line;
    /// empty if nothing.
    pub(crate) report: String,
}

/// What the provider counted for the newest reply: its request and the reply itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// 0: it does not count, or the transcript was compacted since.
    pub(crate) tokens: u64,
    /// The entries up to that reply.
    pub(crate) entries: usize,
}

/// The newest call, and how many consecutive calls were identical to it.
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
            mode: TaskMode::new(head.mode),
            files: Manifest::named(&head.files),
            last: Last::Start,
            shown: String::new(),
            said: String::new(),
            results: Vec::new(),
            step: 0,
            recalled_before: 0,
            usage: Usage::default(),
            limits: head.limits,
            questions: BTreeMap::new(),
            approvals: BTreeMap::new(),
            children: Vec::new(),
            held: None,
            inherited: transcript.entries().len(),
            transcript,
            instructions: None,
            works_below: false,
            has_unread: false,
            knows_live_children: false,
            steps: Vec::new(),
            counted: Counted::default(),
            deferred: Vec::new(),
            was_reached: false,
            repeats: Repeats::default(),
            budget_alerted: false,
            knows_cut: false,
            clock: Clock::started(at),
            idle_since: at,
            head,
        }
    }

    #[must_use]
    pub const fn has_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended { .. })
    }

    /// The entries that its model is sent after the system prompt.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// What the task is to do: its prompt, or the instructions that have replaced it.
    #[must_use]
    pub fn question(&self) -> &str {
        self.instructions.as_ref().unwrap_or(&self.head.original_prompt)
    }

    /// The transcript's entries.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        self.transcript.entries()
    }

    /// Why the task holds its sub-tasks, if it does: it or an ancestor is paused, or asks whether to go on
    /// after a restart.
    pub(crate) fn holds(&self) -> Option<PauseReason> {
        self.paused.or(self.held).or_else(|| self.own_hold())
    }

    /// Why it holds its sub-tasks, whatever its parents do.
    pub(crate) fn own_hold(&self) -> Option<PauseReason> {
        let asks = || self.questions.values().any(|q| q.kind == QuestionKind::Restart);
        self.paused.or_else(|| asks().then_some(PauseReason::Restart))
    }

    /// Whether the task must begin nothing: it is paused or held, or a question has to be answered first.
    pub(crate) fn waits(&self) -> bool {
        self.paused.is_some() || self.held.is_some() || self.blocking_question().is_some()
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

    /// An open question that must be answered before anything begins: any but one of the agent's own.
    #[must_use]
    pub fn blocking_question(&self) -> Option<&Question> {
        self.questions.values().find(|q| q.kind != QuestionKind::Agent)
    }

    /// What is fixed in its mode.
    pub(crate) fn table(&self) -> &'static Table {
        table(self.head.mode)
    }

    /// What its mode wants next.
    pub(crate) fn next(&self) -> Action {
        self.mode.next(&self.facts())
    }

    /// What its mode is told of it.
    pub(crate) fn facts(&self) -> Facts<'_> {
        Facts { last: &self.last, shown: &self.shown, said: &self.said, tools: &self.head.tools }
    }

    /// Why the last reply is incomplete, if it is and nothing has happened since.
    pub(crate) fn incomplete(&self) -> Option<Incomplete> {
        match &self.last {
            Last::Text { stop: StopReason::Length, .. } => Some(Incomplete::Length),
            Last::Text { stop: StopReason::Unfinished, .. } => Some(Incomplete::Unfinished),
            Last::Text { stop: StopReason::LostCalls, .. } => Some(Incomplete::LostCalls),
            Last::Text { text, .. } if text.trim().is_empty() => Some(Incomplete::Empty),
            Last::Text { .. } | Last::Start | Last::Results { .. } | Last::Nudged => None,
        }
    }

    /// The reply of which clients may have been shown text that is not recorded: it is under way, or it broke
    /// and no other attempt has begun.
    pub(crate) const fn unrecorded_reply(&self) -> Option<RecordId> {
        match self.stage {
            Stage::Thinking { item, .. } | Stage::Backoff { item, .. } => Some(item),
            Stage::Idle | Stage::Calling(_) | Stage::Ended { .. } => None,
        }
    }

    /// The failed attempt before the one that is under way or due.
    pub(crate) const fn failed(&self) -> Option<&Failed> {
        match &self.stage {
            Stage::Thinking { before, .. } => before.as_ref(),
            Stage::Backoff { failed, .. } => Some(failed),
            Stage::Idle | Stage::Calling(_) | Stage::Ended { .. } => None,
        }
    }

    /// How many attempts in a row have failed for this reason, if the one under way does.
    pub(crate) fn alike(&self, reason: &str) -> u32 {
        1 + self.failed().filter(|before| before.reason == reason).map_or(0, |before| before.alike)
    }

    /// The task was parked after an earlier attempt of its model call.
    pub(crate) fn was_parked(&self) -> bool {
        self.failed().is_some_and(|before| before.was_parked)
    }

    /// The step that it is in is its last one, by its limit.
    pub(crate) const fn has_all_steps(&self) -> bool {
        self.limits.max_steps > 0 && self.step >= self.limits.max_steps
    }

    /// The place of its running model call, or of the next one, in its loop.
    #[must_use]
    pub fn turn(&self) -> Turn {
        let phase = match &self.stage {
            Stage::Thinking { phase, .. } | Stage::Backoff { phase, .. } => *phase,
            Stage::Idle | Stage::Calling(_) | Stage::Ended { .. } => self.mode.phase(),
        };
        Turn { mode: self.head.mode, phase, may_ask: self.mode.may_ask() }
    }

    /// Whether a model call or a tool is under way.
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

    /// The tool that carries it out; the model may have called it by another name.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.assessed.as_ref().map_or(&self.block.tool, |p| &p.tool)
    }

    #[must_use]
    pub fn effect(&self) -> EffectClass {
        self.assessed.as_ref().map_or(EffectClass::Unsafe, |p| p.effect)
    }

    /// The sandbox that confines its processes, as recorded.
    #[must_use]
    pub fn sandbox(&self) -> String {
        self.assessed.as_ref().map_or("none", |p| &p.sandbox).to_owned()
    }
}
