//! Tells a conversation's records and live output as the events of a stream, each with the id that resumes
//! after it.
//!
//! Every record is the end of exactly one id. What it gives before its last event, and live output, have ids
//! that name the part of it that the client has by then. So a client that comes back with the last id it has
//! read misses nothing and reads nothing twice.

use super::cursor::{Cursor, Part};
use abide_protocol::{
    CallId, RecordId, Seq, TaskId,
    notification::{DeltaItem, DeltaKind, Partial, TaskDelta},
    record::{Record, RecordBody},
    transcript::{Block, CallBlock, StopReason, Usage},
};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

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
    live: Live,
    /// What the client was told of the reply's text before its record, as far as that is known.
    told: String,
    /// The newest reply's calls.
    calls: Vec<CallBlock>,
}

/// Which live output is told. Output that waited while the store was read comes after its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Live {
    /// That of the attempt that was under way when the stream began.
    Begun,
    /// That of this attempt of the reply.
    Of(RecordId, u32),
    /// None: no attempt is under way.
    Over,
}

/// An event: its type, and what is beside the type in its data.
type Event = (&'static str, Value);

impl Narration {
    /// After this id.
    pub(super) const fn after(cursor: Cursor) -> Self {
        Self { cursor, live: Live::Begun, told: String::new(), calls: Vec::new() }
    }

    pub(super) const fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// The tool of a call in the newest reply that was told.
    pub(super) fn tool(&self, call: CallId) -> Option<&String> {
        self.calls.iter().find(|block| block.id == call).map(|block| &block.tool)
    }

    /// The text of a root task that has come live.
    pub(super) fn delta(&mut self, delta: &TaskDelta) -> String {
        let TaskDelta { task_id, item, attempt, kind, offset, text, .. } = delta;
        self.live(*task_id, (*item, *attempt), *kind, *offset, text)
    }

    /// The text of a root task that had come live before the stream began.
    pub(super) fn partial(&mut self, partial: &Partial) -> String {
        let Partial { task_id, item, attempt, kind, offset, text, .. } = partial;
        self.live(*task_id, (*item, *attempt), *kind, *offset, text)
    }

    fn live(
        &mut self,
        task: TaskId,
        (item, attempt): (DeltaItem, u32),
        kind: DeltaKind,
        offset: u64,
        text: &str,
    ) -> String {
        let (DeltaItem::Reply(item), DeltaKind::Text) = (item, kind) else { return String::new() };
        match self.live {
            Live::Begun => {}
            Live::Of(own, number) if (own, number) == (item, attempt) => {}
            Live::Of(..) | Live::Over => return String::new(),
        }
        let had = self.had(item, attempt).map_or(0, |part| part.bytes);
        // After a gap the record brings the rest.
        let at = had.checked_sub(usize::try_from(offset).unwrap_or(usize::MAX));
        let Some((old, new)) = at.and_then(|at| text.split_at_checked(at)) else { return String::new() };
        if new.is_empty() {
            return String::new();
        }
        if offset == 0 {
            old.clone_into(&mut self.told);
        }
        self.told.push_str(new);
        self.cursor.part = Some(Part { item, attempt, bytes: had + new.len(), events: 0 });
        self.event(("text_delta", json!({ "text": new, "taskId": task })))
    }

    /// What the client has of this item.
    fn had(&self, item: RecordId, attempt: u32) -> Option<Part> {
        self.cursor.part.filter(|part| (part.item, part.attempt) == (item, attempt))
    }

    /// How much of the whole text the client has. What it was told live is the beginning of it, but for the
    /// reply of a server that leaves reasoning or markup in it: then all from where they differ is told.
    fn shared(&self, text: &str, had: usize) -> usize {
        if self.told.len() != had || text.starts_with(&self.told) {
            return text.floor_char_boundary(had);
        }
        let same = self.told.char_indices().zip(text.chars()).take_while(|((_, told), c)| told == c);
        same.map(|((at, c), _)| at + c.len_utf8()).last().unwrap_or(0)
    }

    /// A record, with what the client has not had of it.
    pub(super) fn record(&mut self, record: &Record, beside: &Beside) -> String {
        let mut out = String::new();
        if record.seq <= self.cursor.seq {
            return out;
        }
        let text = match &record.body {
            _ if beside.is_sub_task => None,
            RecordBody::Reply(reply) => Some(reply.shown()),
            RecordBody::PartialReply(partial) => Some(partial.text.clone()),
            _ => None,
        };
        let before = self.cursor.part;
        // Text of another attempt is withdrawn by a record in between. What was cut off does not say of which
        // attempt it is.
        let mut part = match (&record.body, before) {
            (RecordBody::Reply(reply), _) => self.had(record.id, reply.attempt),
            (_, before) => before.filter(|part| part.item == record.id),
        }
        .unwrap_or(Part { item: record.id, attempt: attempt(record), bytes: 0, events: 0 });
        if let Some(text) = &text {
            let rest = &text[self.shared(text, part.bytes)..];
            if !rest.is_empty() {
                part.bytes = text.len();
                self.cursor.part = Some(part);
                out.push_str(&self.event(("text_delta", json!({ "text": rest, "taskId": record.task_id }))));
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
        if let RecordBody::Reply(reply) = &record.body
            && !beside.is_sub_task
        {
            self.calls = reply.calls().cloned().collect();
        }
        match &record.body {
            RecordBody::ModelRequested(asked) if !beside.is_sub_task => {
                self.live = Live::Of(asked.item, asked.attempt);
                self.told.clear();
            }
            _ if ends_output(record, beside) => {
                self.live = Live::Over;
                self.told.clear();
            }
            _ => {}
        }
        out
    }

    /// The events of a record besides its text; at least one.
    fn events(&self, record: &Record, beside: &Beside) -> Vec<Event> {
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
                    let data = json!({ "callId": call.id, "tool": call.tool, "argsJson": call.arguments });
                    events.push(("tool_call", data));
                }
                let (reason, step) = (reply.reply.stop_reason, reply.step);
                events.push(("completed", json!({ "stopReason": reason, "final": false, "step": step })));
                events
            }
            RecordBody::CallFinished(finished) => vec![(
                "tool_result",
                json!({
                    "callId": finished.call_id, "tool": self.tool(finished.call_id).or(beside.tool.as_ref()),
                    "result": finished.result, "outcome": finished.outcome,
                }),
            )],
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

/// Whether the live output of the root task is over with this record: it is recorded, cut off or withdrawn.
const fn ends_output(record: &Record, beside: &Beside) -> bool {
    let ends = match &record.body {
        RecordBody::Reply(_)
        | RecordBody::PartialReply(_)
        | RecordBody::ModelFailed(_)
        | RecordBody::ModelRequested(_)
        | RecordBody::TaskEnded(_) => true,
        RecordBody::Intervened(intervened) => intervened.withdraws.is_some(),
        _ => false,
    };
    ends && !beside.is_sub_task
}

const fn attempt(record: &Record) -> u32 {
    match &record.body {
        RecordBody::Reply(reply) => reply.attempt,
        _ => 0,
    }
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
