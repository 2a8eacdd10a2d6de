//! A reply while it streams: each piece is reported at once, and kept in order until the reply is complete.

use crate::{
    fields::Gathered,
    request::{ModelEvent, Sink},
};
use abide_protocol::{
    CallId, JsonText,
    record::Trace,
    transcript::{Block, CallBlock, StopReason, TextBlock},
};
use serde_json::value::RawValue;
use std::fmt;
use uuid::Uuid;

/// The longest reply, in bytes of all its parts.
pub(crate) const MAX_REPLY: usize = 4 * 1024 * 1024;
/// The most parts of a reply.
const MAX_PARTS: usize = 256;

/// Why a stream is not a complete reply.
#[derive(Debug)]
pub(crate) enum Fault {
    /// An event makes no sense; the reply may be complete without it.
    Malformed(Nonsense),
    /// The stream cannot become a complete reply.
    Broken(Nonsense),
    /// It is over [`MAX_REPLY`] or has too many parts.
    TooLong,
    /// An error that the provider sent within the stream, as JSON.
    Reported(String),
}

/// What is wrong with an event: `what` in Abide's words, `detail` with some of the provider's.
#[derive(Debug, Clone)]
pub(crate) struct Nonsense {
    pub(crate) what: String,
    pub(crate) detail: Option<String>,
}

impl fmt::Display for Nonsense {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Some(detail) => write!(f, "{} ({detail})", self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl From<&str> for Nonsense {
    fn from(what: &str) -> Self {
        Self { what: what.to_owned(), detail: None }
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed(Nonsense {
            what: "an event that is not the JSON expected here".to_owned(),
            detail: Some(error.to_string()),
        })
    }
}

/// The index of a part of the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part(usize);

/// The parts so far.
pub(crate) struct Assembly<'a> {
    parts: Vec<Piece>,
    calls: usize,
    size: usize,
    /// How many pieces of content have come.
    heard: usize,
    /// An event was left out that may have held a part of the reply.
    has_gap: bool,
    /// Some text was reported.
    has_said: bool,
    sink: Sink<'a>,
}

struct Piece {
    kind: Kind,
    /// The provider's own fields.
    fields: Gathered,
    /// The provider's own form of the whole part. It takes the place of the fields.
    whole: Option<JsonText>,
}

enum Kind {
    Text(String),
    Reasoning(String),
    Call(OpenCall),
}

struct OpenCall {
    number: usize,
    provider_id: String,
    tool: String,
    arguments: String,
    ready: bool,
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(sink: Sink<'a>) -> Self {
        Self { parts: Vec::new(), calls: 0, size: 0, heard: 0, has_gap: false, has_said: false, sink }
    }

    pub(crate) fn add_text(&mut self) -> Result<Part, Fault> {
        self.add(Kind::Text(String::new()))
    }

    pub(crate) fn add_reasoning(&mut self) -> Result<Part, Fault> {
        self.add(Kind::Reasoning(String::new()))
    }

    pub(crate) fn add_call(&mut self, provider_id: String, tool: String) -> Result<Part, Fault> {
        self.grow(provider_id.len() + tool.len())?;
        // An id that comes twice cannot tell two calls apart: the later call gets Abide's id.
        let provider_id = if self.has_id(&provider_id) { String::new() } else { provider_id };
        let number = self.calls;
        let part = self.add(Kind::Call(OpenCall {
            number,
            provider_id,
            tool: tool.clone(),
            arguments: String::new(),
            ready: false,
        }))?;
        self.calls += 1;
        self.hear();
        (self.sink)(ModelEvent::ToolCallStarted { index: number, tool });
        Ok(part)
    }

    /// Appends to a part: text, reasoning or arguments. The reported text is the beginning of what
    /// [`Reply::text`](abide_protocol::transcript::Reply::text) makes of the parts: blank ones are left out,
    /// and a blank line is between the others.
    pub(crate) fn push(&mut self, part: Part, more: &str) -> Result<(), Fault> {
        if more.is_empty() {
            return Ok(());
        }
        self.grow(more.len())?;
        self.hear();
        let event = match self.parts.get_mut(part.0).map(|piece| &mut piece.kind) {
            Some(Kind::Text(text)) => {
                let was_blank = text.trim().is_empty();
                text.push_str(more);
                if !was_blank {
                    ModelEvent::TextDelta(more.to_owned())
                } else if text.trim().is_empty() {
                    return Ok(());
                } else {
                    let between = if self.has_said { "\n\n" } else { "" };
                    self.has_said = true;
                    ModelEvent::TextDelta(format!("{between}{text}"))
                }
            }
            Some(Kind::Reasoning(text)) => {
                text.push_str(more);
                ModelEvent::ReasoningDelta(more.to_owned())
            }
            Some(Kind::Call(call)) => {
                call.arguments.push_str(more);
                ModelEvent::ToolCallArgsDelta { index: call.number, text: more.to_owned() }
            }
            None => return Ok(()),
        };
        (self.sink)(event);
        Ok(())
    }

    /// A call's arguments are complete.
    pub(crate) fn ready(&mut self, part: Part) {
        if let Some(Piece { kind: Kind::Call(call), .. }) = self.parts.get_mut(part.0)
            && !call.ready
        {
            call.ready = true;
            (self.sink)(ModelEvent::ToolCallReady { index: call.number });
        }
    }

    /// Keeps the provider's own fields of a part.
    pub(crate) fn keep(&mut self, part: Part, fields: &crate::fields::Fields<'_>) -> Result<(), Fault> {
        if let Some(piece) = self.parts.get_mut(part.0) {
            let size = piece.fields.add(fields)?;
            self.heard += usize::from(size > 0);
            self.grow(size)?;
        }
        Ok(())
    }

    /// Keeps the provider's own form of a whole part.
    pub(crate) fn keep_whole(&mut self, part: Part, raw: &RawValue) -> Result<(), Fault> {
        self.grow(raw.get().len())?;
        self.hear();
        if let Some(piece) = self.parts.get_mut(part.0) {
            piece.whole = Some(raw.to_owned().into());
        }
        Ok(())
    }

    /// What [`Self::keep_whole`] has kept.
    pub(crate) fn whole(&self, part: Part) -> Option<&str> {
        self.parts.get(part.0)?.whole.as_ref().map(JsonText::as_str)
    }

    /// Sets the whole text of a part, if there is any. What continues the pieces so far is reported.
    pub(crate) fn settle(&mut self, part: Part, whole: &str) -> Result<(), Fault> {
        if let Some(more) = whole.strip_prefix(self.content(part)) {
            return self.push(part, more);
        }
        if whole.is_empty() {
            return Ok(());
        }
        self.grow(whole.len())?;
        match self.parts.get_mut(part.0).map(|piece| &mut piece.kind) {
            Some(Kind::Text(text) | Kind::Reasoning(text)) => whole.clone_into(text),
            Some(Kind::Call(call)) => whole.clone_into(&mut call.arguments),
            None => {}
        }
        Ok(())
    }

    fn content(&self, part: Part) -> &str {
        match self.parts.get(part.0).map(|piece| &piece.kind) {
            Some(Kind::Text(text) | Kind::Reasoning(text)) => text,
            Some(Kind::Call(call)) => &call.arguments,
            None => "",
        }
    }

    /// Sets fields of a part that were gathered elsewhere (their bytes counted with [`Self::grow`]).
    pub(crate) fn adopt(&mut self, part: Part, rest: Gathered) {
        if let Some(piece) = self.parts.get_mut(part.0) {
            piece.fields = rest;
        }
    }

    /// A call's arguments so far; empty for other parts.
    pub(crate) fn arguments(&self, part: Part) -> &str {
        match self.parts.get(part.0) {
            Some(Piece { kind: Kind::Call(call), .. }) => &call.arguments,
            _ => "",
        }
    }

    /// A piece of content has come, or of what belongs to it. (Empty pieces and keepalives are none.)
    pub(crate) const fn hear(&mut self) {
        self.heard += 1;
    }

    /// How many have come.
    pub(crate) const fn heard(&self) -> usize {
        self.heard
    }

    pub(crate) const fn calls(&self) -> usize {
        self.calls
    }

    /// Keeps a piece that is left out of the reply. It counts towards the limits: a stream of such pieces
    /// alone must end too.
    pub(crate) fn trace(&mut self, what: impl fmt::Display, raw: &str) -> Result<(), Fault> {
        self.grow(raw.len())?;
        (self.sink)(ModelEvent::Trace(Trace { what: what.to_string(), raw: raw.to_owned() }));
        Ok(())
    }

    /// Leaves out an event that cannot be read. Fails if it may have held a piece of a call that is being
    /// written: arguments without that piece may still parse and do something else.
    pub(crate) fn leave_out(&mut self, what: Nonsense, event: &str) -> Result<(), Fault> {
        self.skip(&what, event)?;
        let writes_a_call =
            self.parts.iter().any(|piece| matches!(&piece.kind, Kind::Call(call) if !call.ready));
        if is_a_piece(event) && writes_a_call { Err(Fault::Broken(what)) } else { Ok(()) }
    }

    /// Leaves out an event that cannot be read, where a later one repeats what it may have held.
    pub(crate) fn skip(&mut self, what: &Nonsense, event: &str) -> Result<(), Fault> {
        self.trace(what, event)?;
        self.has_gap |= is_a_piece(event);
        Ok(())
    }

    /// Whether an event was left out that may have held a part of the reply.
    pub(crate) const fn has_gap(&self) -> bool {
        self.has_gap
    }

    /// Reports all calls' arguments as complete.
    pub(crate) fn all_ready(&mut self) {
        for at in 0..self.parts.len() {
            self.ready(Part(at));
        }
    }

    /// The blocks of the finished reply. Calls of a reply that was cut (at the limit, by a filter, by the
    /// provider) are dropped: their arguments may be incomplete.
    pub(crate) fn finish(mut self, stop_reason: StopReason) -> Vec<Block> {
        let keeps_calls = matches!(stop_reason, StopReason::EndTurn | StopReason::ToolCalls);
        if keeps_calls {
            self.all_ready();
        }
        self.parts
            .into_iter()
            .filter_map(|Piece { kind, fields, whole }| {
                block(kind, whole.or_else(|| fields.into_opaque()), keeps_calls)
            })
            .collect()
    }

    fn add(&mut self, kind: Kind) -> Result<Part, Fault> {
        if self.parts.len() >= MAX_PARTS {
            return Err(Fault::TooLong);
        }
        self.parts.push(Piece { kind, fields: Gathered::default(), whole: None });
        Ok(Part(self.parts.len() - 1))
    }

    fn has_id(&self, id: &str) -> bool {
        self.parts.iter().any(|piece| matches!(&piece.kind, Kind::Call(call) if call.provider_id == id))
    }

    /// Counts bytes that the reply will hold.
    pub(crate) fn grow(&mut self, more: usize) -> Result<(), Fault> {
        self.size += more;
        if self.size > MAX_REPLY { Err(Fault::TooLong) } else { Ok(()) }
    }
}

/// A piece of a reply is in an object; an event without one only keeps the connection alive.
fn is_a_piece(event: &str) -> bool {
    event.contains('{')
}

fn block(kind: Kind, opaque: Option<JsonText>, keeps_calls: bool) -> Option<Block> {
    match kind {
        Kind::Text(text) if text.is_empty() && opaque.is_none() => None,
        Kind::Reasoning(text) if text.is_empty() && opaque.is_none() => None,
        Kind::Text(text) => Some(Block::Text(TextBlock { text, opaque })),
        Kind::Reasoning(text) => Some(Block::Reasoning(TextBlock { text, opaque })),
        Kind::Call(call) => keeps_calls.then(|| {
            Block::Call(CallBlock {
                id: CallId(Uuid::nil()),
                provider_id: call.provider_id,
                tool: call.tool,
                // Some models send no arguments at all for a tool without parameters.
                arguments: if call.arguments.trim().is_empty() { "{}".to_owned() } else { call.arguments },
                opaque,
            })
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::Assembly;
    use crate::request::ModelEvent;
    use abide_protocol::transcript::{Reply, StopReason, Usage};

    #[test]
    fn the_reported_text_is_the_beginning_of_the_replys() {
        let table: [&[&[&str]]; 5] = [
            &[&["Hello"], &["World"]],
            &[&["\n"], &["Hel", "lo "], &[" ", "\n"], &[" \n", "World", "\n"]],
            &[&[" ", "Hello"], &["\n\n"]],
            &[&["\u{2003}", "é"], &["\u{a0}x"]],
            &[&[" "]],
        ];
        for blocks in table {
            let mut reported = String::new();
            let mut sink = |event| {
                if let ModelEvent::TextDelta(text) = event {
                    reported.push_str(&text);
                }
            };
            let mut assembly = Assembly::new(&mut sink);
            for pieces in blocks {
                let part = assembly.add_text().unwrap();
                for piece in *pieces {
                    assembly.push(part, piece).unwrap();
                }
                assembly.add_call(String::new(), "read".to_owned()).unwrap();
            }
            let blocks = assembly.finish(StopReason::ToolCalls);
            let (api, model) = (String::new(), String::new());
            let (stop_reason, usage) = (StopReason::ToolCalls, Usage::default());
            assert_eq!(reported, Reply { blocks, api, model, stop_reason, usage }.text());
        }
    }
}
