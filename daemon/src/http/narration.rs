//! Tells a conversation's records and live output as the events of a stream, each with the id that resumes
//! after it.
//!
//! Every record is the end of exactly one id. What it gives before its last event, and live output, have ids
//! that name the part of it that the client has by then. So a client that comes back with the last id it has
//! read misses nothing and reads nothing twice.

use super::{
    cursor::{Cursor, Part},
    voice::{Beside, Event, Voice},
};
use abide_protocol::{
    CallId, RecordId, Seq, TaskId,
    notification::{DeltaItem, DeltaKind, Partial, TaskDelta},
    record::{Record, RecordBody},
    transcript::CallBlock,
};
use serde_json::{Value, json};

/// A stream's events so far.
#[derive(Debug)]
pub(super) struct Narration {
    voice: Voice,
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
    /// None: no attempt is under way, or its text is told only when it is recorded.
    Over,
}

/// An event that is told.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    /// Resumes after it.
    pub(super) id: Cursor,
    pub(super) name: &'static str,
    /// With its type.
    pub(super) data: Value,
}

impl Narration {
    /// After this id.
    pub(super) const fn after(cursor: Cursor, voice: Voice) -> Self {
        Self { voice, cursor, live: Live::Begun, told: String::new(), calls: Vec::new() }
    }

    pub(super) const fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// The tool of a call in the newest reply that was told.
    pub(super) fn tool(&self, call: CallId) -> Option<&String> {
        self.calls.iter().find(|block| block.id == call).map(|block| &block.tool)
    }

    /// The text of a root task that has come live.
    pub(super) fn delta(&mut self, delta: &TaskDelta) -> Option<Told> {
        let TaskDelta { task_id, item, attempt, kind, offset, text, .. } = delta;
        self.live(*task_id, (*item, *attempt), *kind, *offset, text)
    }

    /// The text of a root task that had come live before the stream began.
    pub(super) fn partial(&mut self, partial: &Partial) -> Option<Told> {
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
    ) -> Option<Told> {
        let DeltaItem::Reply(item) = item else { return None };
        if !self.voice.tells(kind) {
            return None;
        }
        match self.live {
            Live::Begun => {}
            Live::Of(own, number) if (own, number) == (item, attempt) => {}
            Live::Of(..) | Live::Over => return None,
        }
        let mut part = self.had(item, attempt).unwrap_or(Part::none(item, attempt));
        let had = bytes(&mut part, kind);
        // After a gap the record brings the rest.
        let (old, new) = text.split_at_checked(had.checked_sub(usize::try_from(offset).ok()?)?)?;
        if new.is_empty() {
            return None;
        }
        let is_first = *had == 0;
        *had += new.len();
        if kind == DeltaKind::Text {
            if offset == 0 {
                old.clone_into(&mut self.told);
            }
            self.told.push_str(new);
        }
        self.cursor.part = Some(part);
        Some(self.event(self.voice.text(kind, new, is_first, Some(task))))
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
    pub(super) fn record(&mut self, record: &Record, beside: &Beside) -> Vec<Told> {
        let mut out = Vec::new();
        if record.seq <= self.cursor.seq {
            return out;
        }
        let texts = if beside.is_sub_task { Vec::new() } else { self.voice.texts(&record.body) };
        let before = self.cursor.part;
        // Text of another attempt is withdrawn by a record in between. What was cut off does not say of which
        // attempt it is.
        let mut part = match (&record.body, before) {
            (RecordBody::Reply(reply), _) => self.had(record.id, reply.attempt),
            (_, before) => before.filter(|part| part.item == record.id),
        }
        .unwrap_or(Part::none(record.id, attempt(record)));
        for (kind, text) in texts {
            let had = *bytes(&mut part, kind);
            let at = match kind {
                DeltaKind::Text => self.shared(&text, had),
                _ => text.floor_char_boundary(had),
            };
            if at < text.len() {
                *bytes(&mut part, kind) = text.len();
                self.cursor.part = Some(part);
                out.push(self.event(self.voice.text(kind, &text[at..], at == 0, record.task_id)));
            }
        }
        out.extend(self.rest(record, beside, before, part));
        if let RecordBody::Reply(reply) = &record.body
            && !beside.is_sub_task
        {
            self.calls = reply.calls().cloned().collect();
        }
        match &record.body {
            RecordBody::ModelRequested(asked) if !beside.is_sub_task => {
                self.live = match self.voice.withholds(asked.phase) {
                    true => Live::Over,
                    false => Live::Of(asked.item, asked.attempt),
                };
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

    /// The events of a record besides its text, but for those that the client has.
    fn rest(&mut self, record: &Record, beside: &Beside, before: Option<Part>, part: Part) -> Vec<Told> {
        let call = match &record.body {
            RecordBody::CallStarted(started) => Some(started.call_id),
            RecordBody::CallFinished(finished) => Some(finished.call_id),
            _ => None,
        };
        let tool = call.and_then(|call| self.tool(call)).or(beside.tool.as_ref());
        let events = self.voice.events(record, beside, tool.map(String::as_str));
        if events.is_empty() && ends_output(record, beside) {
            self.cursor.part = None;
        }
        let last = events.len().saturating_sub(1);
        let untold = events.into_iter().enumerate().skip(part.events.min(last));
        let tell = |(at, event)| {
            self.cursor = match at == last {
                // Live output that goes on is still had.
                true => Cursor { seq: record.seq, part: before.filter(|_| !ends_output(record, beside)) },
                false => Cursor { part: Some(Part { events: at + 1, ..part }), ..self.cursor },
            };
            self.event(event)
        };
        untold.map(tell).collect()
    }

    /// An event, with the id that the client has reached.
    pub(super) fn event(&self, (name, mut data): Event) -> Told {
        data["type"] = json!(name);
        Told { id: self.cursor, name, data }
    }
}

impl Told {
    /// As a server-sent event.
    pub(super) fn sse(&self, voice: Voice) -> String {
        let Self { id, name, data } = self;
        match voice {
            Voice::Session => format!("event: {name}\nid: {id}\ndata: {data}\n\n"),
            _ => format!("id: {id}\ndata: {data}\n\n"),
        }
    }
}

/// How much of this text the client has.
fn bytes(part: &mut Part, kind: DeltaKind) -> &mut usize {
    if kind == DeltaKind::Reasoning { &mut part.reasoning } else { &mut part.bytes }
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

/// Where a stream begins that was asked for without an id.
pub(super) const fn before(seq: Seq) -> Seq {
    Seq(seq.0.saturating_sub(1))
}

#[cfg(test)]
mod tests;
