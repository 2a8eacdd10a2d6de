//! In which events a stream is told.

mod chunk;
mod roa;
mod session;

pub(super) use chunk::changes_agent;

use abide_protocol::{
    TaskId,
    notification::DeltaKind,
    record::{Record, RecordBody},
    task::{AgentTask, Phase},
    transcript::Usage,
};
use serde_json::{Value, json};

/// An event: its type, and what is beside the type in its data.
pub(super) type Event = (&'static str, Value);

/// In which events a stream is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    /// Of the stream of a session.
    Session,
    /// The chunks of the agent API.
    Chunks,
    /// Of clients that show reason, act and observe.
    Roa,
}

/// What a record does not say itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Beside {
    /// Its task is a sub-task: of that only what waits for a person is told.
    pub(super) is_sub_task: bool,
    /// The tool of the call that it ends.
    pub(super) tool: Option<String>,
    /// What the task that it ends has used.
    pub(super) usage: Option<Usage>,
    /// Its task, unless the voice is that of a session.
    pub(super) task: Option<AgentTask>,
    /// Its task as the agent API shows it, if the record changes that.
    pub(super) agent: Option<Value>,
}

impl Voice {
    pub(super) fn tells(self, kind: DeltaKind) -> bool {
        kind == DeltaKind::Text || kind == DeltaKind::Reasoning && self == Self::Chunks
    }

    /// The texts of a record that are told as they come.
    pub(super) fn texts(self, body: &RecordBody) -> Vec<(DeltaKind, String)> {
        match body {
            RecordBody::Reply(reply) if self.withholds(reply.phase) => Vec::new(),
            RecordBody::Reply(reply) => {
                let reasoning = (DeltaKind::Reasoning, reply.reply.reasoning());
                [reasoning, (DeltaKind::Text, reply.shown())]
                    .into_iter()
                    .filter(|(kind, _)| self.tells(*kind))
                    .collect()
            }
            RecordBody::PartialReply(partial) => vec![(DeltaKind::Text, partial.text.clone())],
            _ => Vec::new(),
        }
    }

    /// A piece of such a text.
    pub(super) fn text(self, kind: DeltaKind, text: &str, is_first: bool, task: Option<TaskId>) -> Event {
        match (self, kind) {
            (Self::Session, _) => ("text_delta", json!({ "text": text, "taskId": task })),
            (Self::Chunks, DeltaKind::Reasoning) => ("reasoning", json!({ "textDelta": text })),
            (Self::Chunks, _) => ("text-delta", json!({ "textDelta": text })),
            (Self::Roa, _) => roa::token(text, is_first, false),
        }
    }

    /// Whether the text of a reply of this phase is not told as it comes: it is an event of its own.
    pub(super) const fn withholds(self, phase: Option<Phase>) -> bool {
        matches!(self, Self::Roa) && matches!(phase, Some(Phase::Reason | Phase::Observe | Phase::Plan))
    }

    /// The events of a record besides such texts; `tool` is that of its call. A session has at least one.
    pub(super) fn events(self, record: &Record, beside: &Beside, tool: Option<&str>) -> Vec<Event> {
        match self {
            Self::Session => session::of(record, beside, tool),
            Self::Chunks => chunk::of(record, beside, tool),
            Self::Roa => roa::of(record, beside, tool),
        }
    }
}
