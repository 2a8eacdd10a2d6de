use abide_protocol::{
    Seq, TaskId, Timestamp,
    inbox::Rule,
    message::{CallView, Message},
    record::{ModelErrorKind, Record, RecordBody},
    task::{EndReason, Limits, Mode, PauseReason},
};

/// A place in a conversation's timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    Message(Message),
    /// A tool call; it stands where it was planned and changes as it goes on.
    Call(CallView),
    Event(Event),
}

/// Something that happened to a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub seq: Seq,
    pub task_id: Option<TaskId>,
    pub at: Timestamp,
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    TaskStarted {
        parent_id: Option<TaskId>,
        mode: Mode,
        model: String,
    },
    TaskEnded {
        reason: EndReason,
        summary: Option<String>,
        error: Option<String>,
    },
    Paused {
        reason: PauseReason,
    },
    Resumed {
        was: PauseReason,
    },
    /// The daemon found the task unfinished when it started.
    Restarted {
        without_progress: u32,
    },
    /// A model call failed; with `retry_at` there is another attempt.
    ModelFailed {
        kind: ModelErrorKind,
        message: String,
        retry_at: Option<Timestamp>,
    },
    LimitsRaised {
        limits: Limits,
    },
    /// So many of the oldest tool outputs are no longer sent to the model.
    Compacted {
        outputs: usize,
    },
    RuleRemembered {
        rule: Rule,
        allow: bool,
    },
}

impl Entry {
    #[must_use]
    pub const fn seq(&self) -> Seq {
        match self {
            Self::Message(message) => message.seq,
            Self::Call(call) => call.seq,
            Self::Event(event) => event.seq,
        }
    }

    #[must_use]
    pub const fn task_id(&self) -> Option<TaskId> {
        match self {
            Self::Message(message) => message.task_id,
            Self::Call(call) => Some(call.task_id),
            Self::Event(event) => event.task_id,
        }
    }
}

impl EventKind {
    /// What a timeline tells of a record that is neither message nor call; of many, nothing.
    pub(super) fn of(record: &Record) -> Option<Self> {
        Some(match &record.body {
            RecordBody::TaskStarted(started) => Self::TaskStarted {
                parent_id: started.parent_id,
                mode: started.mode,
                model: started.model.clone(),
            },
            RecordBody::TaskEnded(ended) => Self::TaskEnded {
                reason: ended.reason,
                summary: ended.summary.clone(),
                error: ended.error.clone(),
            },
            RecordBody::Paused(paused) => Self::Paused { reason: paused.reason },
            RecordBody::Resumed(resumed) => Self::Resumed { was: resumed.was },
            RecordBody::Restarted(restarted) => {
                Self::Restarted { without_progress: restarted.without_progress }
            }
            RecordBody::ModelFailed(failed) => Self::ModelFailed {
                kind: failed.kind,
                message: failed.message.clone(),
                retry_at: failed.retry_at,
            },
            RecordBody::LimitsRaised(raised) => Self::LimitsRaised { limits: raised.limits },
            RecordBody::Compacted(compacted) => Self::Compacted { outputs: compacted.elided.len() },
            RecordBody::RuleRemembered(remembered) => {
                Self::RuleRemembered { rule: remembered.rule.clone(), allow: remembered.allow }
            }
            _ => return None,
        })
    }
}
