//! The events of a streamed reply.

use crate::{
    api::Api,
    assembly::{Assembly, Fault, Part},
    counts::Counts,
    fields::Fields,
    overflow,
    quote::quote,
    reading::Decode,
    request::Sink,
    stop,
};
use abide_protocol::transcript::{Reply, StopReason, Usage};
use serde_json::value::RawValue;

/// Assembles a reply from events.
pub(super) struct Decoder<'a> {
    reply: Assembly<'a>,
    /// The blocks that have begun and not ended.
    open: Vec<Open>,
    /// The indexes of blocks of unknown types: events about them are left out too.
    skipped: Vec<u64>,
    stop_reason: Option<String>,
    over: bool,
    usage: Usage,
}

struct Open {
    index: u64,
    part: Part,
    /// A call's arguments, if they came with the block's first event.
    input: Option<String>,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(sink: Sink<'a>) -> Self {
        Self {
            reply: Assembly::new(sink),
            open: Vec::new(),
            skipped: Vec::new(),
            stop_reason: None,
            over: false,
            usage: Usage { model_calls: 1, ..Usage::default() },
        }
    }

    fn read(&mut self, data: &str) -> Result<(), Fault> {
        if data.trim().is_empty() {
            return Ok(());
        }
        let mut event = Fields::parse(data)?;
        let kind = event.take::<String>("type")?.unwrap_or_default();
        match kind.as_str() {
            "message_start" => {
                let mut message = event.take::<Fields<'_>>("message")?.unwrap_or_default();
                self.count(&mut message, data)?;
            }
            // The whole reply as one document.
            "message" => self.whole(event, data)?,
            "content_block_start" => {
                let index = event.take::<u64>("index")?.unwrap_or(0);
                self.start(index, event.take_raw("content_block").map_or("{}", RawValue::get))?;
            }
            "content_block_delta" => self.delta(event)?,
            "content_block_stop" => {
                let index = event.take::<u64>("index")?.unwrap_or(0);
                self.stop(index)?;
            }
            "message_delta" => {
                let mut delta = event.take::<Fields<'_>>("delta")?.unwrap_or_default();
                if let Some(reason) = delta.take("stop_reason")? {
                    self.stop_reason = Some(reason);
                }
                self.count(&mut event, data)?;
                self.reply.hear();
            }
            "message_stop" => self.over = true,
            "ping" => {}
            "error" => return Err(Fault::Reported(data.to_owned())),
            _ if event.take_raw("error").is_some() => return Err(Fault::Reported(data.to_owned())),
            kind => self.reply.trace(format!("an event of an unknown kind, `{}`", quote(kind)), data)?,
        }
        Ok(())
    }

    fn whole(&mut self, mut message: Fields<'_>, data: &str) -> Result<(), Fault> {
        let content = message.take::<Vec<&RawValue>>("content")?.unwrap_or_default();
        for (index, block) in (0..).zip(content) {
            self.start(index, block.get())?;
            self.stop(index)?;
        }
        self.stop_reason = message.take("stop_reason")?;
        self.over = true;
        self.count(&mut message, data)
    }

    fn start(&mut self, index: u64, raw: &str) -> Result<(), Fault> {
        let mut block = Fields::parse(raw)?;
        let kind = block.take::<String>("type")?.unwrap_or_default();
        let mut input = None;
        let part = match kind.as_str() {
            "text" => {
                let part = self.reply.add_text()?;
                let text = block.take::<String>("text")?.unwrap_or_default();
                self.reply.push(part, &text)?;
                part
            }
            "thinking" => {
                let part = self.reply.add_reasoning()?;
                let text = block.take::<String>("thinking")?.unwrap_or_default();
                self.reply.push(part, &text)?;
                part
            }
            "redacted_thinking" => {
                // Sent back as it is, its type included.
                block = Fields::parse(raw)?;
                self.reply.add_reasoning()?
            }
            "tool_use" => {
                let id = block.take::<String>("id")?.unwrap_or_default();
                let name = block.take::<String>("name")?.unwrap_or_default();
                input = block.take_raw("input").map(|raw| raw.get().to_owned());
                self.reply.add_call(id, name)?
            }
            other => {
                self.skipped.push(index);
                return self.reply.trace(format!("a block of an unknown type, `{}`", quote(other)), raw);
            }
        };
        self.reply.keep(part, &block)?;
        self.open.push(Open { index, part, input });
        Ok(())
    }

    fn delta(&mut self, mut event: Fields<'_>) -> Result<(), Fault> {
        let index = event.take::<u64>("index")?.unwrap_or(0);
        if self.skipped.contains(&index) {
            return Ok(());
        }
        let raw = event.take_raw("delta").map_or("{}", |raw| raw.get());
        let mut delta = Fields::parse(raw)?;
        let kind = delta.take::<String>("type")?.unwrap_or_default();
        let part = match self.open.iter().rfind(|open| open.index == index) {
            Some(open) => open.part,
            None => match self.begin_late(index, &kind)? {
                Some(part) => part,
                None => return self.reply.trace("a piece of a block that never began", raw),
            },
        };
        let field = match kind.as_str() {
            "text_delta" => "text",
            "thinking_delta" => "thinking",
            "input_json_delta" => "partial_json",
            "signature_delta" => return self.reply.keep(part, &delta),
            kind => {
                return self.reply.trace(format!("a piece of an unknown kind, `{}`", quote(kind)), raw);
            }
        };
        let more = delta.take::<String>(field)?.unwrap_or_default();
        self.reply.push(part, &more)
    }

    /// Begins a block whose first event was left out. Text and thinking can do without it, a call cannot.
    fn begin_late(&mut self, index: u64, kind: &str) -> Result<Option<Part>, Fault> {
        let part = match kind {
            "text_delta" => self.reply.add_text()?,
            "thinking_delta" => self.reply.add_reasoning()?,
            "input_json_delta" => {
                return Err(Fault::Broken("a piece of a call whose beginning cannot be read".into()));
            }
            _ => return Ok(None),
        };
        self.open.push(Open { index, part, input: None });
        Ok(Some(part))
    }

    fn stop(&mut self, index: u64) -> Result<(), Fault> {
        let Some(at) = self.open.iter().rposition(|open| open.index == index) else { return Ok(()) };
        let open = self.open.remove(at);
        if let Some(input) = open.input.filter(|input| input != "{}")
            && self.reply.arguments(open.part).is_empty()
        {
            self.reply.push(open.part, &input)?;
        }
        self.reply.ready(open.part);
        Ok(())
    }

    /// Counts are cumulative: each replaces the one before.
    fn count(&mut self, holder: &mut Fields<'_>, event: &str) -> Result<(), Fault> {
        let Some(given) = holder.take_raw("usage") else { return Ok(()) };
        let Some(mut counts) = Counts::read(given) else {
            return self.reply.trace("usage in an unknown form", event);
        };
        let mut set = |count: &mut u64, field| *count = counts.at(field).unwrap_or(*count);
        set(&mut self.usage.input, "/input_tokens");
        set(&mut self.usage.output, "/output_tokens");
        set(&mut self.usage.cache_read, "/cache_read_input_tokens");
        set(&mut self.usage.cache_write, "/cache_creation_input_tokens");
        counts.trace_nonsense(&mut self.reply, event)
    }
}

impl Decode for Decoder<'_> {
    fn event(&mut self, data: &str) -> Result<(), Fault> {
        match self.read(data) {
            Err(Fault::Malformed(what)) => self.reply.leave_out(what, data),
            read => read,
        }
    }

    fn heard(&self) -> usize {
        self.reply.heard()
    }

    fn is_finished(&self) -> bool {
        self.stop_reason.is_some() || self.over
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn finish(self, model: &str) -> Result<Reply, Fault> {
        let wants_calls = self.stop_reason.as_deref() == Some("tool_use");
        if wants_calls && self.reply.calls() == 0 && self.reply.has_gap() {
            return Err(Fault::Broken("a reply whose calls cannot be read".into()));
        }
        let stop_reason = match self.stop_reason.as_deref() {
            Some("max_tokens") => StopReason::Length,
            Some(reason) if overflow::is_overflow(reason) => StopReason::Length,
            Some("refusal") => StopReason::Refusal,
            reason => stop::meaning(reason, self.reply.calls()),
        };
        let blocks = self.reply.finish(stop_reason);
        overflow::check(self.stop_reason.as_deref(), &blocks)?;
        Ok(Reply {
            blocks,
            api: Api::Anthropic.name().to_owned(),
            model: model.to_owned(),
            stop_reason,
            usage: self.usage,
        })
    }
}
