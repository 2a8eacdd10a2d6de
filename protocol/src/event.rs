//! Events: the entries of a timeline that are neither messages nor calls.

use crate::{
    Seq, TaskId, Timestamp,
    checkpoint::{KeptFile, UndoEnded, UndoFrom, UndoResult},
    inbox::Rule,
    measure::counted,
    record::{
        InstructionFile, Interruption, ModelErrorKind, Noted, Recalled, Record, RecordBody, Restarted,
        TaskStarted, Trace,
    },
    task::{EndReason, Limits, Mode, PauseReason, Phase},
};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// Something that happened to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Position among the messages.
    pub seq: Seq,
    pub task_id: Option<TaskId>,
    pub at: Timestamp,
    pub kind: EventKind,
}

/// What happened. Variants are only ever appended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum EventKind {
    TaskStarted(StartedEvent),
    StepBegan(StepEvent),
    /// A model call failed.
    ModelFailed(ModelFailedEvent),
    Paused(PauseReason),
    /// The pause for this reason is over.
    Resumed(PauseReason),
    LimitsRaised(Limits),
    Compacted(CompactedEvent),
    RuleRemembered(RuleEvent),
    /// The daemon found the task unfinished when it started.
    Restarted,
    TaskEnded(EndedEvent),
    /// A model's stream held parts that make no sense; the reply leaves them out.
    ModelTraced(ModelTracedEvent),
    PhaseBegan(PhaseEvent),
    /// A person has taken back what a task of the conversation has changed.
    Undone(UndoneEvent),
    /// The task was given passages of other conversations.
    Recalled(Recalled),
    /// The agent has made a note for later tasks; the event's `seq` is its number.
    Noted(Noted),
}

/// How much of the oldest context is no longer sent to the model whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactedEvent {
    /// Outputs of tools, each replaced by a short note.
    pub outputs: u64,
    /// Steps, each replaced by a line about it.
    pub steps: u64,
    /// What was recalled is left out.
    pub recalled: bool,
}

impl CompactedEvent {
    /// The event in words for a person.
    #[must_use]
    pub fn words(&self) -> String {
        let outputs = (self.outputs > 0).then(|| counted(self.outputs, "old tool output") + " left out");
        let steps = (self.steps > 0).then(|| counted(self.steps, "old step") + " shortened");
        let recalled = self.recalled.then(|| "what was recalled left out".to_owned());
        let what: Vec<String> = [recalled, outputs, steps].into_iter().flatten().collect();
        format!("the context grew long: {} from here on", what.join(", "))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartedEvent {
    pub parent_id: Option<TaskId>,
    pub mode: Mode,
    /// `provider/model`.
    pub model: String,
    pub persona: Option<String>,
    /// The repository's notes for agents that the model has been given.
    pub instructions: Vec<InstructionFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepEvent {
    /// Counts from 1.
    pub step: u32,
}

/// A phase of a step begins. The step begins with its first phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseEvent {
    /// Counts from 1.
    pub step: u32,
    pub phase: Phase,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelFailedEvent {
    pub kind: ModelErrorKind,
    /// For people.
    pub message: String,
    /// When the next attempt begins; absent if there is none.
    pub retry_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelTracedEvent {
    /// Counts from 1 within the step.
    pub attempt: u32,
    /// Filled only in a task's history (`getTask`).
    pub traces: Vec<Trace>,
    /// How many traces there were, including those not kept.
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleEvent {
    pub rule: Rule,
    /// Whether the rule allows or denies.
    pub allow: bool,
    /// The rule's text, if it matches more than the very call.
    pub text: Option<String>,
}

/// An undo is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoneEvent {
    /// The task whose changes it took back.
    pub undone: TaskId,
    pub from: UndoFrom,
    /// How many files it has restored.
    pub restored: u32,
    /// Files of the task that it has not touched.
    pub kept: Vec<KeptFile>,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndedEvent {
    pub reason: EndReason,
    pub summary: Option<String>,
    pub error: Option<String>,
}

impl Event {
    /// The kinds of records that can be events.
    pub const RECORDS: &[&str] = &[
        "task_started",
        "model_requested",
        "model_failed",
        "paused",
        "resumed",
        "limits_raised",
        "compacted",
        "rule_remembered",
        "restarted",
        "task_ended",
        "model_traced",
        "phase_began",
        "undo_ended",
        "recalled",
        "noted",
    ];

    /// The record as an event, if it is one; no event is a message. Traces of a model's stream are left out:
    /// a page holds many events.
    #[must_use]
    pub fn of(record: &Record) -> Option<Self> {
        let mut event = Self::whole(record)?;
        if let EventKind::ModelTraced(traced) = &mut event.kind {
            traced.traces = Vec::new();
        }
        Some(event)
    }

    /// The same, with the traces of a model's stream.
    #[must_use]
    pub fn whole(record: &Record) -> Option<Self> {
        let kind = EventKind::of(&record.body)?;
        Some(Self { seq: record.seq, task_id: record.task_id, at: record.at, kind })
    }
}

impl From<&TaskStarted> for StartedEvent {
    fn from(started: &TaskStarted) -> Self {
        Self {
            parent_id: started.parent_id,
            mode: started.mode,
            model: started.model.clone(),
            persona: started.persona.clone(),
            instructions: started.instructions.clone(),
        }
    }
}

impl From<&UndoEnded> for UndoneEvent {
    fn from(ended: &UndoEnded) -> Self {
        let (restored, kept, error) = match &ended.result {
            UndoResult::Done(done) => (done.restored, done.kept.clone(), None),
            UndoResult::Failed(words) => (0, Vec::new(), Some(words.clone())),
        };
        Self { undone: ended.undone, from: ended.from, restored, kept, error }
    }
}

impl UndoneEvent {
    /// The event in words for a person, without the files.
    #[must_use]
    pub fn words(&self) -> String {
        if let Some(error) = &self.error {
            return format!("the undo failed: {error}");
        }
        let restored = counted(u64::from(self.restored), "file");
        let kept = match self.kept.len() as u64 {
            0 => String::new(),
            kept => format!(", {kept} kept as they are"),
        };
        let what = match self.from {
            UndoFrom::Start => "you undid the task's changes".to_owned(),
            UndoFrom::Step(step) => format!("you undid the changes from step {step} on"),
            UndoFrom::LastUndo => "you redid what the last undo took".to_owned(),
        };
        format!("{what}: {restored} restored{kept}")
    }
}

impl EventKind {
    fn of(body: &RecordBody) -> Option<Self> {
        Some(match body {
            RecordBody::TaskStarted(started) => Self::TaskStarted(StartedEvent::from(&**started)),
            // A later attempt belongs to the same step, and a phase is an event of its own.
            RecordBody::ModelRequested(requested) if requested.attempt == 1 && requested.phase.is_none() => {
                Self::StepBegan(StepEvent { step: requested.step })
            }
            RecordBody::PhaseBegan(began) => {
                Self::PhaseBegan(PhaseEvent { step: began.step, phase: began.phase })
            }
            RecordBody::ModelFailed(failed) => Self::ModelFailed(ModelFailedEvent {
                kind: failed.kind,
                message: failed.message.clone(),
                retry_at: failed.retry_at,
            }),
            RecordBody::Paused(paused) => Self::Paused(paused.reason),
            RecordBody::Resumed(resumed) => Self::Resumed(resumed.was),
            RecordBody::LimitsRaised(raised) => Self::LimitsRaised(raised.limits),
            RecordBody::Compacted(compacted) => Self::Compacted(CompactedEvent {
                outputs: compacted.elided.len() as u64,
                steps: compacted.steps.len() as u64,
                recalled: compacted.recalled,
            }),
            RecordBody::RuleRemembered(remembered) => Self::RuleRemembered(RuleEvent {
                rule: remembered.rule.clone(),
                allow: remembered.allow,
                text: remembered.text.clone(),
            }),
            RecordBody::Restarted(Restarted { cause: Interruption::DaemonRestarted, .. }) => Self::Restarted,
            RecordBody::TaskEnded(ended) => Self::TaskEnded(EndedEvent {
                reason: ended.reason,
                summary: ended.summary.clone(),
                error: ended.error.clone(),
            }),
            RecordBody::ModelTraced(traced) => Self::ModelTraced(ModelTracedEvent {
                attempt: traced.attempt,
                traces: traced.traces.clone(),
                count: traced.traces.len() as u64 + traced.left_out,
            }),
            RecordBody::UndoEnded(ended) => Self::Undone(UndoneEvent::from(ended)),
            RecordBody::Recalled(recalled) => Self::Recalled(recalled.clone()),
            RecordBody::Noted(noted) => Self::Noted(noted.clone()),
            _ => return None,
        })
    }
}
