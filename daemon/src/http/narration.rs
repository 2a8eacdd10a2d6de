//! Tells a conversation's records and live output as the events of a stream, each with the id that resumes
//! after it.
//!
//! Every record is the end of exactly one id. What it gives before its last event, and live output, have ids
//! that name the part of it that the client has by then. So a client that comes back with the last id it has
//! read misses nothing and reads nothing twice.

use super::{
    cursor::{Cursor, Part},
    voice::{Beside, Event, Tools, Voice},
};
use abide_protocol::{
    CallId, RecordId, Seq,
    notification::{DeltaItem, DeltaKind, Partial, TaskDelta},
    record::{Record, RecordBody},
};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// How many replies are remembered as recorded: live output of one may come after it, but not after so many.
const MAX_RECORDED: usize = 1024;

/// A stream's events so far.
#[derive(Debug)]
pub(super) struct Narration {
    voice: Voice,
    cursor: Cursor,
    recorded: VecDeque<RecordId>,
    tools: Tools,
    /// The reply whose text is told only when it is recorded.
    withheld: Option<RecordId>,
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
    pub(super) fn after(cursor: Cursor, voice: Voice) -> Self {
        Self { voice, cursor, recorded: VecDeque::new(), tools: Tools::default(), withheld: None }
    }

    pub(super) const fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// The tool of a call in a reply that was told.
    pub(super) fn tool(&self, call: CallId) -> Option<&String> {
        self.tools.get(call)
    }

    /// The text of a root task that has come live.
    pub(super) fn delta(&mut self, delta: &TaskDelta) -> Option<Told> {
        let TaskDelta { item, attempt, kind, offset, text, .. } = delta;
        self.live(*item, *attempt, *kind, *offset, text)
    }

    /// The text of a root task that had come live before the stream began.
    pub(super) fn partial(&mut self, partial: &Partial) -> Option<Told> {
        let Partial { item, attempt, kind, offset, text, .. } = partial;
        self.live(*item, *attempt, *kind, *offset, text)
    }

    fn live(
        &mut self,
        item: DeltaItem,
        attempt: u32,
        kind: DeltaKind,
        offset: u64,
        text: &str,
    ) -> Option<Told> {
        let DeltaItem::Reply(item) = item else { return None };
        if self.recorded.contains(&item) || self.withheld == Some(item) || !self.voice.tells(kind) {
            return None;
        }
        let mut part = self.had(item, attempt).unwrap_or(Part::none(item, attempt));
        let had = bytes(&mut part, kind);
        // After a gap the record brings the rest.
        let new = had.checked_sub(usize::try_from(offset).ok()?).and_then(|at| text.get(at..))?;
        let is_first = *had == 0;
        *had += new.len();
        (!new.is_empty()).then(|| {
            self.cursor.part = Some(part);
            self.told(self.voice.text(kind, new, is_first))
        })
    }

    /// What the client has of this item.
    fn had(&self, item: RecordId, attempt: u32) -> Option<Part> {
        self.cursor.part.filter(|part| (part.item, part.attempt) == (item, attempt))
    }

    /// A record, with what the client has not had of it.
    pub(super) fn record(&mut self, record: &Record, beside: &Beside) -> Vec<Told> {
        let mut out = Vec::new();
        if record.seq <= self.cursor.seq {
            return out;
        }
        let attempt = match &record.body {
            RecordBody::Reply(reply) if !beside.is_sub_task => reply.attempt,
            _ => 0,
        };
        let texts = if beside.is_sub_task { Vec::new() } else { self.voice.texts(&record.body) };
        let none = Part::none(record.id, attempt);
        let mut part = match (&record.body, self.cursor.part) {
            // What was cut off was live output of another id.
            (RecordBody::PartialReply(_), Some(part)) if !beside.is_sub_task => {
                Part { bytes: part.bytes, ..none }
            }
            _ => self.had(record.id, attempt).unwrap_or(none),
        };
        let before = self.cursor.part;
        for (kind, text) in texts {
            let had = bytes(&mut part, kind);
            let (is_first, rest) = (*had == 0, &text[text.floor_char_boundary(*had)..]);
            if !rest.is_empty() {
                *had = text.len();
                self.cursor.part = Some(part);
                out.push(self.told(self.voice.text(kind, rest, is_first)));
            }
        }
        let events = self.voice.events(record, beside, &mut self.tools);
        if events.is_empty() && ends_output(record, beside) {
            self.cursor.part = None;
        }
        let last = events.len().saturating_sub(1);
        for (at, event) in events.into_iter().enumerate().skip(part.events.min(last)) {
            self.cursor = match at == last {
                // Live output that goes on is still had.
                true => Cursor { seq: record.seq, part: before.filter(|_| !ends_output(record, beside)) },
                false => Cursor { part: Some(Part { events: at + 1, ..part }), ..self.cursor },
            };
            out.push(self.told(event));
        }
        match &record.body {
            RecordBody::Reply(_) => {
                self.recorded.push_back(record.id);
                if self.recorded.len() > MAX_RECORDED {
                    self.recorded.pop_front();
                }
            }
            RecordBody::ModelRequested(asked) if !beside.is_sub_task => {
                self.withheld = self.voice.withholds(asked.phase).then_some(asked.item);
            }
            _ => {}
        }
        out
    }

    /// An event, with the id that the client has reached.
    pub(super) fn told(&self, (name, mut data): Event) -> Told {
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

/// Where a stream begins that was asked for without an id.
pub(super) const fn before(seq: Seq) -> Seq {
    Seq(seq.0.saturating_sub(1))
}

#[cfg(test)]
mod tests;
