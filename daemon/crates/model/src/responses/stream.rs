//! The events of a streamed reply. Deltas are shown; what counts is the whole item at its end.

use crate::{
    api::Api,
    assembly::{Assembly, Fault, Part},
    counts::Counts,
    fields::Fields,
    overflow,
    quote::quote,
    reading::Decode,
    replay,
    request::Sink,
};
use abide_protocol::transcript::{Reply, StopReason, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The most items of a reply, those included that are left out.
const MAX_ITEMS: usize = 512;

/// Assembles a reply from events.
pub(super) struct Decoder<'a> {
    reply: Assembly<'a>,
    /// In the order in which they began.
    items: Vec<Item>,
    refused: bool,
    end: Option<End>,
    /// Why the reply is incomplete.
    reason: Option<String>,
    usage: Usage,
}

/// An output item.
struct Item {
    name: Name,
    kind: Kind,
    /// `None` for an item of an unknown type, which is left out, and for a call whose name has not come.
    part: Option<Part>,
    is_done: bool,
    /// The summary or content part of the last delta of its reasoning.
    section: u64,
}

/// What events call an item. Some servers give no index, some give all items the same one, and some change
/// the id.
#[derive(Clone, Default)]
struct Name {
    index: Option<u64>,
    id: String,
}

impl Name {
    fn fits(&self, other: &Self) -> bool {
        if self.index.is_some() { self.index == other.index } else { self.id == other.id }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    Reasoning,
    Call,
    Unknown,
}

/// How the reply ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    AtLimit,
    Filtered,
}

#[derive(Deserialize)]
struct Texts {
    text: Option<String>,
    refusal: Option<String>,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(sink: Sink<'a>) -> Self {
        Self {
            reply: Assembly::new(sink),
            items: Vec::new(),
            refused: false,
            end: None,
            reason: None,
            usage: Usage { model_calls: 1, ..Usage::default() },
        }
    }

    fn read(&mut self, data: &str) -> Result<(), Fault> {
        // Some servers end with the other API's mark.
        if matches!(data.trim(), "" | "[DONE]") {
            return Ok(());
        }
        let mut event = Fields::parse(data)?;
        let kind = event.take::<String>("type")?.unwrap_or_default();
        match kind.as_str() {
            "response.output_item.added" => self.added(event),
            "response.output_item.done" => self.done(event, data),
            "response.output_text.delta" | "response.refusal.delta" => self.text(&mut event, data),
            "response.reasoning_summary_text.delta" => self.reasoning(&mut event, "summary_index", data),
            "response.reasoning_text.delta" => self.reasoning(&mut event, "content_index", data),
            "response.function_call_arguments.delta" => self.arguments(&mut event, data),
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                self.ended(&kind, event.take::<Fields<'_>>("response")?.unwrap_or_default())
            }
            "error" => Err(Fault::Reported(data.to_owned())),
            "" if event.iter().any(|(name, value)| name == "object" && value.get() == "\"response\"") => {
                self.whole(event, data)
            }
            _ if is_repeated(&kind) => Ok(()),
            _ if event.take_raw("error").is_some() => Err(Fault::Reported(data.to_owned())),
            kind => self.reply.trace(format!("an event of an unknown kind, `{}`", quote(kind)), data),
        }
    }

    /// The whole response as one document.
    fn whole(&mut self, response: Fields<'_>, data: &str) -> Result<(), Fault> {
        let output = response.iter().find(|(name, _)| *name == "output").map(|(_, output)| output);
        let items: Vec<&RawValue> =
            output.map(|output| serde_json::from_str(output.get())).transpose()?.unwrap_or_default();
        for (index, item) in (0..).zip(items) {
            self.item(Some(index), item, data)?;
        }
        self.ended("", response)
    }

    fn added(&mut self, mut event: Fields<'_>) -> Result<(), Fault> {
        let index = event.take::<u64>("output_index")?;
        let raw = event.take_raw("item").map_or("{}", RawValue::get);
        let mut item = Fields::parse(raw)?;
        let name = Name { index, id: item.take::<String>("id")?.unwrap_or_default() };
        self.begin(name, item, raw)?;
        Ok(())
    }

    /// Begins an item; returns its place in `items`.
    fn begin(&mut self, name: Name, mut item: Fields<'_>, raw: &str) -> Result<usize, Fault> {
        let kind = item.take::<String>("type")?.unwrap_or_default();
        let (kind, part) = match kind.as_str() {
            "message" => (Kind::Message, Some(self.reply.add_text()?)),
            "reasoning" => (Kind::Reasoning, Some(self.reply.add_reasoning()?)),
            "function_call" => {
                let (id, tool) = call(&mut item)?;
                (Kind::Call, if tool.is_empty() { None } else { Some(self.reply.add_call(id, tool)?) })
            }
            other => {
                self.reply.trace(format!("an item of an unknown type, `{}`", quote(other)), raw)?;
                (Kind::Unknown, None)
            }
        };
        self.push(name, kind, part)
    }

    fn push(&mut self, name: Name, kind: Kind, part: Option<Part>) -> Result<usize, Fault> {
        if self.items.len() >= MAX_ITEMS {
            return Err(Fault::TooLong);
        }
        self.items.push(Item { name, kind, part, is_done: false, section: 0 });
        Ok(self.items.len() - 1)
    }

    /// The item that is being written under this name.
    fn find(&self, name: &Name, kind: Kind) -> Option<usize> {
        self.items.iter().rposition(|item| item.kind == kind && !item.is_done && name.fits(&item.name))
    }

    fn text(&mut self, event: &mut Fields<'_>, data: &str) -> Result<(), Fault> {
        let name = name(event)?;
        let at = match self.find(&name, Kind::Message) {
            Some(at) => at,
            None => {
                let part = self.reply.add_text()?;
                self.push(name, Kind::Message, Some(part))?
            }
        };
        self.delta(at, event, data)
    }

    fn reasoning(&mut self, event: &mut Fields<'_>, section: &str, data: &str) -> Result<(), Fault> {
        let name = name(event)?;
        let at = match self.find(&name, Kind::Reasoning) {
            Some(at) => at,
            None => {
                let part = self.reply.add_reasoning()?;
                self.push(name, Kind::Reasoning, Some(part))?
            }
        };
        let section = event.take::<u64>(section)?.unwrap_or(0);
        let item = &mut self.items[at];
        if section != item.section {
            item.section = section;
            if let Some(part) = item.part {
                self.reply.push(part, "\n\n")?;
            }
        }
        self.delta(at, event, data)
    }

    /// A call whose beginning is missing has all arguments at its end.
    fn arguments(&mut self, event: &mut Fields<'_>, data: &str) -> Result<(), Fault> {
        let name = name(event)?;
        let at = match self.find(&name, Kind::Call) {
            Some(at) => at,
            None => self.push(name, Kind::Call, None)?,
        };
        self.delta(at, event, data)
    }

    fn delta(&mut self, at: usize, event: &mut Fields<'_>, data: &str) -> Result<(), Fault> {
        let more = event.take::<String>("delta")?.unwrap_or_default();
        match self.items[at].part {
            Some(part) => self.reply.push(part, &more),
            // It counts towards the limits all the same.
            None => {
                self.reply.hear();
                self.reply.grow(data.len())
            }
        }
    }

    /// The whole item. It is sent back as it is.
    fn done(&mut self, mut event: Fields<'_>, data: &str) -> Result<(), Fault> {
        let index = event.take::<u64>("output_index")?;
        let Some(raw) = event.take_raw("item") else {
            return self.reply.trace("the end of an item without the item", data);
        };
        self.item(index, raw, data)
    }

    fn item(&mut self, index: Option<u64>, raw: &RawValue, data: &str) -> Result<(), Fault> {
        let mut item = Fields::parse(raw.get())?;
        let name = Name { index, id: item.take::<String>("id")?.unwrap_or_default() };
        let (kind, whole) = match item.take::<String>("type")?.unwrap_or_default().as_str() {
            "message" => (Kind::Message, self.message(&mut item)?),
            "reasoning" => (Kind::Reasoning, reasoning(&mut item)?),
            "function_call" => (Kind::Call, item.take::<String>("arguments")?.unwrap_or_default()),
            _ => (Kind::Unknown, String::new()),
        };
        let at = match self.find(&name, kind) {
            Some(at) => at,
            None if self.has_ended(&name, kind, raw) => {
                return self.reply.trace("the end of an item that has ended", data);
            }
            None => self.begin(name, Fields::parse(raw.get())?, raw.get())?,
        };
        if kind == Kind::Call && self.items[at].part.is_none() {
            let (id, tool) = call(&mut item)?;
            self.items[at].part = Some(self.reply.add_call(id, tool)?);
        }
        let item = &mut self.items[at];
        item.is_done = true;
        let Some(part) = item.part else { return Ok(()) };
        self.reply.settle(part, &whole)?;
        self.reply.keep_whole(part, raw)?;
        self.reply.ready(part);
        Ok(())
    }

    /// Whether an item of this name has ended with the same bytes: a call that is repeated must not run
    /// again.
    fn has_ended(&self, name: &Name, kind: Kind, raw: &RawValue) -> bool {
        let mut ended =
            self.items.iter().filter(|item| item.kind == kind && item.is_done && name.fits(&item.name));
        ended.any(|item| item.part.is_some_and(|part| self.reply.whole(part) == Some(raw.get())))
    }

    fn message(&mut self, item: &mut Fields<'_>) -> Result<String, Fault> {
        let parts = item.take::<Vec<Texts>>("content")?.unwrap_or_default();
        self.refused |= parts.iter().any(|part| part.refusal.is_some());
        Ok(parts.into_iter().flat_map(|part| [part.text, part.refusal]).flatten().collect())
    }

    fn ended(&mut self, kind: &str, mut response: Fields<'_>) -> Result<(), Fault> {
        let status = response.take::<String>("status").ok().flatten().unwrap_or_default();
        let is = |state: &str| status == state || kind.strip_prefix("response.") == Some(state);
        if is("failed") || is("cancelled") {
            let error =
                response.take_raw("error").map_or(r#"{"message":"it gives no reason"}"#, RawValue::get);
            return Err(Fault::Reported(format!(r#"{{"error":{error}}}"#)));
        }
        if let Some(given) = response.take_raw("usage") {
            match Counts::read(given) {
                Some(counts) => self.count(counts, given.get())?,
                None => self.reply.trace("usage in an unknown form", given.get())?,
            }
        }
        if is("incomplete") {
            let mut details = response.take::<Fields<'_>>("incomplete_details")?.unwrap_or_default();
            let reason = details.take::<String>("reason")?.unwrap_or_default();
            self.end = Some(if reason == "content_filter" { End::Filtered } else { End::AtLimit });
            self.reason = Some(reason);
            return Ok(());
        }
        let output = response.take::<Vec<&RawValue>>("output").ok().flatten().unwrap_or_default();
        let lacks_an_item = self.reply.has_gap() && output.len() > self.items.len();
        // Only its end has all of its arguments.
        let lacks_a_call = self.items.iter().any(|item| item.kind == Kind::Call && !item.is_done);
        if lacks_an_item || lacks_a_call {
            return Err(Fault::Broken("a reply of which an item cannot be read".into()));
        }
        self.end = Some(End::Complete);
        Ok(())
    }

    /// The input counts include the cached ones.
    fn count(&mut self, mut counts: Counts, event: &str) -> Result<(), Fault> {
        let cache_read = counts.at("/input_tokens_details/cached_tokens").unwrap_or(0);
        let cache_write = counts.at("/input_tokens_details/cache_write_tokens").unwrap_or(0);
        let input = counts.at("/input_tokens").unwrap_or(0);
        self.usage = Usage {
            input: input.saturating_sub(cache_read).saturating_sub(cache_write),
            output: counts.at("/output_tokens").unwrap_or(0),
            cache_read,
            cache_write,
            reasoning: counts.at("/output_tokens_details/reasoning_tokens").unwrap_or(0),
            model_calls: 1,
            cost_micros: None,
        };
        counts.trace_nonsense(&mut self.reply, event)
    }
}

impl Decode for Decoder<'_> {
    /// The end of an item repeats what an event of it that makes no sense may have held.
    fn event(&mut self, data: &str) -> Result<(), Fault> {
        match self.read(data) {
            Err(Fault::Malformed(what)) => self.reply.skip(&what, data),
            read => read,
        }
    }

    fn heard(&self) -> usize {
        self.reply.heard()
    }

    fn is_finished(&self) -> bool {
        self.end.is_some()
    }

    fn is_over(&self) -> bool {
        self.end.is_some()
    }

    fn finish(self, model: &str) -> Result<Reply, Fault> {
        let stop_reason = match self.end {
            Some(End::AtLimit) => StopReason::Length,
            Some(End::Filtered) => StopReason::Refusal,
            _ if self.refused => StopReason::Refusal,
            _ if self.reply.calls() > 0 => StopReason::ToolCalls,
            _ => StopReason::EndTurn,
        };
        let is_whole = self.end == Some(End::Complete)
            && (stop_reason != StopReason::Refusal || self.reply.calls() == 0)
            && self.items.iter().all(|item| item.is_done && item.part.is_some());
        let blocks = self.reply.finish(stop_reason);
        overflow::check(self.reason.as_deref(), &blocks)?;
        Ok(Reply {
            // The API rejects some items without their neighbours, so of a partial reply only the text goes
            // back.
            blocks: if is_whole { blocks } else { replay::plain(blocks) },
            api: Api::OpenaiResponses.name().to_owned(),
            model: model.to_owned(),
            stop_reason,
            usage: self.usage,
        })
    }
}

/// The name of the item that an event is about.
fn name(event: &mut Fields<'_>) -> Result<Name, Fault> {
    let id = event.take::<String>("item_id")?.unwrap_or_default();
    Ok(Name { index: event.take::<u64>("output_index")?, id })
}

/// The id and the tool of a call.
fn call(item: &mut Fields<'_>) -> Result<(String, String), Fault> {
    let mut text = |field: &str| item.take::<String>(field).map(Option::unwrap_or_default);
    Ok((text("call_id")?, text("name")?))
}

/// Its summary if it has one, else its text, which only some servers send.
fn reasoning(item: &mut Fields<'_>) -> Result<String, Fault> {
    let mut texts = |field: &str| -> Result<String, Fault> {
        let parts = item.take::<Vec<Texts>>(field)?.unwrap_or_default();
        Ok(parts.into_iter().filter_map(|part| part.text).collect::<Vec<_>>().join("\n\n"))
    };
    let (summary, content) = (texts("summary")?, texts("content")?);
    Ok(if summary.is_empty() { content } else { summary })
}

/// Whether other events have all that one of this kind has.
fn is_repeated(kind: &str) -> bool {
    const KINDS: [&str; 14] = [
        "keepalive",
        "response.created",
        "response.queued",
        "response.in_progress",
        "response.content_part.added",
        "response.content_part.done",
        "response.output_text.done",
        "response.output_text.annotation.added",
        "response.refusal.done",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_part.done",
        "response.reasoning_summary_text.done",
        "response.reasoning_text.done",
        "response.function_call_arguments.done",
    ];
    KINDS.contains(&kind)
}
