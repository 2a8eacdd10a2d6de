//! The events of a streamed reply.

use crate::{
    assembly::{Assembly, Fault, Part},
    config::Api,
    fields::Fields,
    request::Sink,
};
use abide_protocol::transcript::{Reply, StopReason, Usage};
use serde::Deserialize;

/// Puts events together.
pub(super) struct Decoder<'a> {
    reply: Assembly<'a>,
    /// The blocks that are being written.
    open: Vec<Open>,
    stop_reason: Option<String>,
    over: bool,
    usage: Usage,
}

struct Open {
    index: u64,
    part: Part,
    /// A call's arguments, if they came with its beginning.
    input: Option<String>,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(sink: Sink<'a>) -> Self {
        Self {
            reply: Assembly::new(sink),
            open: Vec::new(),
            stop_reason: None,
            over: false,
            usage: Usage { model_calls: 1, ..Usage::default() },
        }
    }

    /// The model has said why it stopped.
    pub(super) const fn is_finished(&self) -> bool {
        self.stop_reason.is_some() || self.over
    }

    /// Nothing more comes.
    pub(super) const fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn event(&mut self, data: &str) -> Result<(), Fault> {
        if data.trim().is_empty() {
            return Ok(());
        }
        let mut event = Fields::parse(data)?;
        let kind = event.take::<String>("type")?.unwrap_or_default();
        match kind.as_str() {
            "message_start" => {
                let mut message = event.take::<Fields<'_>>("message")?.unwrap_or_default();
                self.count(&mut message);
            }
            "content_block_start" => self.start(event)?,
            "content_block_delta" => self.delta(event)?,
            "content_block_stop" => self.stop(event)?,
            "message_delta" => {
                let mut delta = event.take::<Fields<'_>>("delta")?.unwrap_or_default();
                if let Some(reason) = delta.take("stop_reason")? {
                    self.stop_reason = Some(reason);
                }
                self.count(&mut event);
            }
            "message_stop" => self.over = true,
            "error" => return Err(Fault::Reported(data.to_owned())),
            _ if event.take_raw("error").is_some() => return Err(Fault::Reported(data.to_owned())),
            // `ping`, and what may come one day.
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, mut event: Fields<'_>) -> Result<(), Fault> {
        let index = event.take::<u64>("index")?.unwrap_or(0);
        let raw = event.take_raw("content_block").map_or("{}", |raw| raw.get());
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
                // Goes back as it is, its type included.
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
                self.reply.trace(format!(
                    "a content block of unknown type {:?} was left out",
                    crate::quote::quote(other)
                ));
                return Ok(());
            }
        };
        self.reply.keep(part, &block)?;
        self.open.push(Open { index, part, input });
        Ok(())
    }

    fn delta(&mut self, mut event: Fields<'_>) -> Result<(), Fault> {
        let index = event.take::<u64>("index")?.unwrap_or(0);
        let Some(part) = self.open.iter().rfind(|open| open.index == index).map(|open| open.part) else {
            return Ok(());
        };
        let mut delta = event.take::<Fields<'_>>("delta")?.unwrap_or_default();
        let kind = delta.take::<String>("type")?.unwrap_or_default();
        let field = match kind.as_str() {
            "text_delta" => "text",
            "thinking_delta" => "thinking",
            "input_json_delta" => "partial_json",
            "signature_delta" => return self.reply.keep(part, &delta),
            _ => return Ok(()),
        };
        let more = delta.take::<String>(field)?.unwrap_or_default();
        self.reply.push(part, &more)
    }

    fn stop(&mut self, mut event: Fields<'_>) -> Result<(), Fault> {
        let index = event.take::<u64>("index")?.unwrap_or(0);
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

    /// Counts are cumulative: each that is given replaces the one before.
    fn count(&mut self, holder: &mut Fields<'_>) {
        let Ok(Some(counts)) = holder.take::<Counts>("usage") else { return };
        let set = |count: &mut u64, given: Option<u64>| *count = given.unwrap_or(*count);
        set(&mut self.usage.input, counts.input_tokens);
        set(&mut self.usage.output, counts.output_tokens);
        set(&mut self.usage.cache_read, counts.cache_read_input_tokens);
        set(&mut self.usage.cache_write, counts.cache_creation_input_tokens);
    }

    /// The reply, once the stream has ended well.
    pub(super) fn finish(self, model: &str) -> Reply {
        let stop_reason = match self.stop_reason.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            Some("refusal") => StopReason::Refusal,
            _ if self.reply.calls() > 0 => StopReason::ToolCalls,
            // `end_turn`, `stop_sequence`, `pause_turn`: whoever wants more of it asks again.
            _ => StopReason::EndTurn,
        };
        Reply {
            blocks: self.reply.finish(stop_reason),
            api: Api::Anthropic.name().to_owned(),
            model: model.to_owned(),
            stop_reason,
            usage: self.usage,
        }
    }
}

#[derive(Deserialize)]
struct Counts {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}
