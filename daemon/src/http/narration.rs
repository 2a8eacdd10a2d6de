//! Tells a conversation's records and live output as the events of a stream, each with the id that resumes
//! after it.
//!
//! Every record is the end of exactly one id. What it gives before its last event, and live output, have ids
//! that name the part of it that the client has by then. So a client that comes back with the last id it has
//! read misses nothing and reads nothing twice.

use super::cursor::{Cursor, Part};
use abide_protocol::{
    CallId, RecordId, Seq,
    notification::{DeltaItem, DeltaKind, Partial, TaskDelta},
    record::{Record, RecordBody},
    transcript::{Block, StopReason, Usage},
};
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    collections::{HashMap, VecDeque},
    fmt::Write as _,
};

/// How many replies are remembered as recorded: live output of one may come after it, but not after so many.
const MAX_RECORDED: usize = 1024;
/// How many calls' tools are remembered.
const MAX_CALLS: usize = 4096;

/// What a record does not say itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Beside {
    /// Its task is a sub-task: of that only what waits for a person is told.
    pub(super) is_sub_task: bool,
    /// The tool of the call that it ends.
    pub(super) tool: Option<String>,
    /// What the task that it ends has used.
    pub(super) usage: Option<Usage>,
}

/// A stream's events so far.
#[derive(Debug)]
pub(super) struct Narration {
    cursor: Cursor,
    recorded: VecDeque<RecordId>,
    tools: HashMap<CallId, String>,
}

/// An event: its type, and what is beside the type in its data.
type Event = (&'static str, Value);

impl Narration {
    /// After this id.
    pub(super) fn after(cursor: Cursor) -> Self {
        Self { cursor, recorded: VecDeque::new(), tools: HashMap::new() }
    }

    pub(super) const fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// The tool of a call in a reply that was told.
    pub(super) fn tool(&self, call: CallId) -> Option<&String> {
        self.tools.get(&call)
    }

    /// The text of a root task that has come live.
    pub(super) fn delta(&mut self, delta: &TaskDelta) -> String {
        let TaskDelta { item, attempt, kind, offset, text, .. } = delta;
        self.live(*item, *attempt, *kind, *offset, text)
    }

    /// The text of a root task that had come live before the stream began.
    pub(super) fn partial(&mut self, partial: &Partial) -> String {
        let Partial { item, attempt, kind, offset, text, .. } = partial;
        self.live(*item, *attempt, *kind, *offset, text)
    }

    fn live(&mut self, item: DeltaItem, attempt: u32, kind: DeltaKind, offset: u64, text: &str) -> String {
        let (DeltaItem::Reply(item), DeltaKind::Text) = (item, kind) else { return String::new() };
        if self.recorded.contains(&item) {
            return String::new();
        }
        let had = self.had(item, attempt).map_or(0, |part| part.bytes);
        // After a gap the record brings the rest.
        let Some(new) =
            had.checked_sub(usize::try_from(offset).unwrap_or(usize::MAX)).and_then(|at| text.get(at..))
        else {
            return String::new();
        };
        if new.is_empty() {
            return String::new();
        }
        self.cursor.part = Some(Part { item, attempt, bytes: had + new.len(), events: 0 });
        self.event(("text_delta", json!({ "text": new })))
    }

    /// What the client has of this item.
    fn had(&self, item: RecordId, attempt: u32) -> Option<Part> {
        self.cursor.part.filter(|part| (part.item, part.attempt) == (item, attempt))
    }

    /// A record, with what the client has not had of it.
    pub(super) fn record(&mut self, record: &Record, beside: &Beside) -> String {
        let mut out = String::new();
        if record.seq <= self.cursor.seq {
            return out;
        }
        let (attempt, text) = match &record.body {
            _ if beside.is_sub_task => (0, None),
            RecordBody::Reply(reply) => (reply.attempt, Some(reply.shown())),
            RecordBody::PartialReply(partial) => (0, Some(partial.text.clone())),
            _ => (0, None),
        };
        let mut part = match (&record.body, self.cursor.part) {
            // What was cut off was live output of another id.
            (RecordBody::PartialReply(_), Some(part)) if text.is_some() => {
                Part { item: record.id, attempt, bytes: part.bytes, events: 0 }
            }
            _ => {
                self.had(record.id, attempt).unwrap_or(Part { item: record.id, attempt, bytes: 0, events: 0 })
            }
        };
        let before = self.cursor.part;
        if let Some(text) = &text {
            let rest = &text[text.floor_char_boundary(part.bytes)..];
            if !rest.is_empty() {
                part.bytes = text.len();
                self.cursor.part = Some(part);
                out.push_str(&self.event(("text_delta", json!({ "text": rest }))));
            }
        }
        let events = self.events(record, beside);
        let last = events.len().saturating_sub(1);
        for (at, event) in events.into_iter().enumerate().skip(part.events.min(last)) {
            self.cursor = match at == last {
                // Live output that goes on is still had.
                true => Cursor { seq: record.seq, part: before.filter(|_| !ends_output(record, beside)) },
                false => Cursor { part: Some(Part { events: at + 1, ..part }), ..self.cursor },
            };
            out.push_str(&self.event(event));
        }
        if let RecordBody::Reply(_) = &record.body {
            self.recorded.push_back(record.id);
            if self.recorded.len() > MAX_RECORDED {
                self.recorded.pop_front();
            }
        }
        out
    }

    /// The events of a record besides its text; at least one.
    fn events(&mut self, record: &Record, beside: &Beside) -> Vec<Event> {
        let task = record.task_id;
        let mut events = match &record.body {
            RecordBody::ApprovalRequested(a) => vec![(
                "approval_required",
                json!({
                    "callId": a.call_id, "approvalId": a.id, "tool": a.tool, "argsJson": a.arguments.as_str(),
                    "reason": a.why.as_ref().unwrap_or(&a.summary), "summary": a.summary, "preview": a.preview,
                    "risk": a.risk,
                    "rule": a.rule, "onlyOnce": a.only_once,
                }),
            )],
            RecordBody::ApprovalDecided(d) => vec![(
                "approval_decided",
                json!({
                    "callId": d.call_id, "approvalId": d.approval_id, "decision": d.decision, "note": d.note,
                    "by": d.by,
                }),
            )],
            RecordBody::QuestionAsked(q) => vec![(
                "question",
                json!({
                    "questionId": q.id, "kind": q.kind, "text": q.text, "choices": q.choices,
                    "callId": q.call_id, "expiresAt": q.expires_at,
                }),
            )],
            RecordBody::QuestionAnswered(a) => vec![(
                "question_answered",
                json!({ "questionId": a.question_id, "response": a.response, "by": a.by }),
            )],
            _ if beside.is_sub_task => vec![trace(record)],
            RecordBody::Reply(reply) => {
                let mut events = Vec::new();
                for call in reply.calls() {
                    if self.tools.len() < MAX_CALLS {
                        self.tools.insert(call.id, call.tool.clone());
                    }
                    let data = json!({ "callId": call.id, "tool": call.tool, "argsJson": call.arguments });
                    events.push(("tool_call", data));
                }
                let (reason, step) = (reply.reply.stop_reason, reply.step);
                events.push(("completed", json!({ "stopReason": reason, "final": false, "step": step })));
                events
            }
            RecordBody::CallFinished(finished) => {
                let known = self.tools.remove(&finished.call_id);
                vec![(
                    "tool_result",
                    json!({
                        "callId": finished.call_id, "tool": known.or_else(|| beside.tool.clone()),
                        "result": finished.result, "outcome": finished.outcome,
                    }),
                )]
            }
            RecordBody::Paused(paused) => {
                vec![("state", json!({ "status": "paused", "reason": paused.reason }))]
            }
            RecordBody::Resumed(resumed) => {
                vec![("state", json!({ "status": "running", "reason": resumed.was }))]
            }
            RecordBody::TaskEnded(ended) => {
                let error = ended.error.as_ref().map(|error| ("error", json!({ "message": error })));
                let status = ended.reason.status();
                let stop = match status {
                    abide_protocol::task::Status::Completed => json!(StopReason::EndTurn),
                    _ => json!(ended.reason),
                };
                let completed = json!({
                    "stopReason": stop, "final": true, "status": status, "endReason": ended.reason,
                    "summary": ended.summary, "usage": beside.usage,
                });
                error.into_iter().chain([("completed", completed)]).collect()
            }
            _ => vec![trace(record)],
        };
        if let Some(task) = task {
            for (_, data) in &mut events {
                data["taskId"] = json!(task);
            }
        }
        events
    }

    /// An event as it is sent, with the id that resumes after it.
    fn event(&self, (name, mut data): Event) -> String {
        data["type"] = json!(name);
        let mut out = String::new();
        let _ = write!(out, "event: {name}\nid: {}\ndata: {data}\n\n", self.cursor);
        out
    }
}

/// Whether the live output of the root task is over with this record.
fn ends_output(record: &Record, beside: &Beside) -> bool {
    let ends = matches!(
        record.body,
        RecordBody::Reply(_)
            | RecordBody::PartialReply(_)
            | RecordBody::ModelFailed(_)
            | RecordBody::TaskEnded(_)
            | RecordBody::ModelRequested(_)
    );
    ends && !beside.is_sub_task
}

fn trace(record: &Record) -> Event {
    let (kind, data) = match outward(&record.body) {
        Value::Object(tagged) => tagged.into_iter().next().unwrap_or_default(),
        other => (String::new(), other),
    };
    ("trace", json!({ "kind": kind, "data": data }))
}

/// A record's body as it leaves the machine: without the environment of tools, and without what is a
/// provider's own.
fn outward(body: &RecordBody) -> Value {
    fn value(body: &impl Serialize) -> Value {
        serde_json::to_value(body).unwrap_or_default()
    }
    match body {
        RecordBody::TaskStarted(started) => {
            let mut started = started.clone();
            started.environment.clear();
            // What only its model reads, and is most of the record.
            started.system_prompt.clear();
            started.child_system_prompt = None;
            started.tools.clear();
            started.prompts.clear();
            value(&RecordBody::TaskStarted(started))
        }
        RecordBody::CallAssessed(assessed) => {
            let mut assessed = assessed.clone();
            if let Some(direct) = &mut assessed.direct {
                direct.environment.clear();
            }
            value(&RecordBody::CallAssessed(assessed))
        }
        RecordBody::Reply(reply) => {
            let mut reply = reply.clone();
            for block in &mut reply.reply.blocks {
                match block {
                    Block::Text(text) | Block::Reasoning(text) => text.opaque = None,
                    Block::Call(call) => call.opaque = None,
                }
            }
            reply.calls.iter_mut().for_each(|call| call.opaque = None);
            value(&RecordBody::Reply(reply))
        }
        RecordBody::ModelTraced(traced) => {
            let mut traced = traced.clone();
            traced.traces.iter_mut().for_each(|trace| trace.raw.clear());
            value(&RecordBody::ModelTraced(traced))
        }
        other => value(other),
    }
}

/// Where a stream begins that was asked for without an id.
pub(super) const fn before(seq: Seq) -> Seq {
    Seq(seq.0.saturating_sub(1))
}

#[cfg(test)]
mod tests;
