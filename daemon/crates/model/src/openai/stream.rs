//! The chunks of a streamed reply.

mod calls;

use crate::{
    api::Api,
    assembly::{Assembly, Fault, Part},
    counts::Counts,
    fields::{Fields, Gathered},
    overflow,
    reading::Decode,
    request::Sink,
    stop,
};
use abide_protocol::transcript::{Reply, StopReason, Usage};
use calls::Calls;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// Assembles a reply from chunks.
pub(super) struct Decoder<'a> {
    reply: Assembly<'a>,
    text: Option<Part>,
    reasoning: Option<Part>,
    calls: Calls,
    /// Unknown fields of the message.
    rest: Gathered,
    finish_reason: Option<String>,
    refused: bool,
    usage: Usage,
    /// A delta has come with content.
    has_deltas: bool,
    /// `[DONE]` has come.
    over: bool,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: Option<Fields<'a>>,
    /// What some servers send instead of the delta, and all in a reply that is one document.
    #[serde(borrow)]
    message: Option<Fields<'a>>,
    finish_reason: Option<String>,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(sink: Sink<'a>) -> Self {
        Self {
            reply: Assembly::new(sink),
            text: None,
            reasoning: None,
            calls: Calls::default(),
            rest: Gathered::default(),
            finish_reason: None,
            refused: false,
            usage: Usage { model_calls: 1, ..Usage::default() },
            has_deltas: false,
            over: false,
        }
    }

    fn read(&mut self, data: &str) -> Result<(), Fault> {
        if data.trim().is_empty() {
            return Ok(());
        }
        let mut chunk = Fields::parse(data)?;
        let is_error = chunk.take_raw("object").is_some_and(|kind| kind.get() == "\"error\"");
        if is_error || chunk.take_raw("error").is_some() {
            return Err(Fault::Reported(data.to_owned()));
        }
        let counts = chunk.take_raw("usage");
        let choices = chunk.take::<Vec<Choice<'_>>>("choices")?;
        match counts.map(Counts::read) {
            Some(Some(counts)) => self.count(counts, data)?,
            Some(None) => self.reply.trace("usage in an unknown form", data)?,
            // How far the model has read the prompt.
            None if choices.is_none() && chunk.take_raw("prompt_progress").is_some() => {}
            None if choices.is_none() => self.reply.trace("an event of an unknown kind", data)?,
            None => {}
        }
        for choice in choices.unwrap_or_default() {
            // One choice was asked for; others are ignored.
            if choice.index != 0 {
                continue;
            }
            match (choice.delta, choice.message) {
                (Some(delta), _) => {
                    let heard = self.reply.heard();
                    self.delta(delta)?;
                    self.has_deltas |= self.reply.heard() > heard;
                }
                // A message after deltas repeats them.
                (None, Some(message)) if !self.has_deltas => self.delta(message)?,
                (None, _) => {}
            }
            match choice.finish_reason.as_deref() {
                None | Some("") => {}
                Some("error" | "insufficient_system_resource") => {
                    return Err(Fault::Reported(data.to_owned()));
                }
                Some(_) => {
                    self.finish_reason = choice.finish_reason;
                    self.reply.all_ready();
                }
            }
        }
        Ok(())
    }

    fn delta(&mut self, mut delta: Fields<'_>) -> Result<(), Fault> {
        delta.take_raw("role");
        // Some servers send the same reasoning under both names.
        let reasoning = [delta.take_raw("reasoning_content"), delta.take_raw("reasoning")];
        for (name, raw) in ["reasoning_content", "reasoning"].iter().zip(reasoning) {
            if let Some(text) = raw.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok()) {
                self.add_reasoning(name, &text)?;
                break;
            }
        }
        if let Some(content) = delta.take_raw("content") {
            match self.content(content) {
                Err(Fault::Malformed(what)) => self.reply.trace(what, content.get())?,
                added => added?,
            }
        }
        if let Some(refusal) = delta.take::<String>("refusal")? {
            self.refused |= !refusal.is_empty();
            self.add_text(&refusal)?;
        }
        let old_call = delta.take_raw("function_call");
        let calls = delta.take::<Vec<Fields<'_>>>("tool_calls")?.unwrap_or_default();
        match old_call {
            // Some servers send a call in both forms.
            Some(call) if calls.is_empty() => {
                self.calls.old_delta(&mut self.reply, serde_json::from_str(call.get())?)?;
            }
            _ => calls.into_iter().try_for_each(|call| self.calls.delta(&mut self.reply, call))?,
        }
        if delta.iter().any(|(_, value)| !matches!(value.get(), "null" | "[]" | "{}" | "\"\"")) {
            self.reply.hear();
        }
        let size = self.rest.add(&delta)?;
        self.reply.grow(size)
    }

    fn count(&mut self, mut counts: Counts, event: &str) -> Result<(), Fault> {
        let cache_read = counts
            .at("/prompt_tokens_details/cached_tokens")
            .or_else(|| counts.at("/prompt_cache_hit_tokens"))
            .unwrap_or(0);
        let cache_write = counts.at("/prompt_tokens_details/cache_write_tokens").unwrap_or(0);
        let input = counts.at("/prompt_tokens").unwrap_or(0);
        let usage = Usage {
            input: input.saturating_sub(cache_read).saturating_sub(cache_write),
            output: counts.at("/completion_tokens").unwrap_or(0),
            cache_read,
            cache_write,
            reasoning: counts.at("/completion_tokens_details/reasoning_tokens").unwrap_or(0),
            model_calls: 1,
            cost_micros: None,
        };
        // Some servers repeat the counts in every event.
        if usage.output > self.usage.output {
            self.reply.hear();
        }
        self.usage = usage;
        counts.trace_nonsense(&mut self.reply, event)
    }

    /// A text, or a list of typed parts, which may include thinking.
    fn content(&mut self, content: &RawValue) -> Result<(), Fault> {
        match serde_json::from_str(content.get())? {
            Value::String(text) => self.add_text(&text),
            Value::Array(parts) => parts.iter().try_for_each(|part| {
                if let Some(text) = part.get("text").and_then(Value::as_str) {
                    return self.add_text(text);
                }
                let thinking = part.get("thinking").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                thinking.iter().try_for_each(|piece| {
                    let text = piece.get("text").and_then(Value::as_str).unwrap_or_default();
                    self.add_reasoning("", text)
                })
            }),
            _ => Err(Fault::Malformed("content that is neither text nor a list".into())),
        }
    }

    fn add_text(&mut self, text: &str) -> Result<(), Fault> {
        if text.is_empty() {
            return Ok(());
        }
        let part = match self.text {
            Some(part) => part,
            None => *self.text.insert(self.reply.add_text()?),
        };
        self.reply.push(part, text)
    }

    /// `field` is the name that it came under and is sent back under; empty: it is not sent back.
    fn add_reasoning(&mut self, field: &str, text: &str) -> Result<(), Fault> {
        if text.is_empty() {
            return Ok(());
        }
        let part = match self.reasoning {
            Some(part) => part,
            None => {
                let part = *self.reasoning.insert(self.reply.add_reasoning()?);
                if !field.is_empty() {
                    let mut place = Gathered::default();
                    place.place_text(field);
                    self.reply.adopt(part, place);
                }
                part
            }
        };
        self.reply.push(part, text)
    }
}

impl Decode for Decoder<'_> {
    fn event(&mut self, data: &str) -> Result<(), Fault> {
        if data.trim() == "[DONE]" {
            self.over = true;
            return Ok(());
        }
        match self.read(data) {
            Err(Fault::Malformed(what)) => self.reply.leave_out(what, data),
            read => read,
        }
    }

    fn heard(&self) -> usize {
        self.reply.heard()
    }

    fn is_finished(&self) -> bool {
        self.finish_reason.is_some()
    }

    /// Some servers never send `[DONE]`.
    fn is_over(&self) -> bool {
        self.over
    }

    fn finish(mut self, model: &str) -> Result<Reply, Fault> {
        let stop_reason = match self.finish_reason.as_deref() {
            Some("length" | "max_tokens" | "model_length") => StopReason::Length,
            Some(reason) if overflow::is_overflow(reason) => StopReason::Length,
            Some("content_filter" | "refusal") => StopReason::Refusal,
            _ if self.refused => StopReason::Refusal,
            reason => stop::meaning(reason, self.reply.calls()),
        };
        let wants_calls = matches!(self.finish_reason.as_deref(), Some("tool_calls" | "function_call"));
        if wants_calls && self.reply.calls() == 0 && self.reply.has_gap() {
            return Err(Fault::Broken("a reply whose calls cannot be read".into()));
        }
        if !self.rest.is_empty() {
            let part = match self.text {
                Some(part) => part,
                None => self.reply.add_text()?,
            };
            self.reply.adopt(part, self.rest);
        }
        let blocks = self.reply.finish(stop_reason);
        overflow::check(self.finish_reason.as_deref(), &blocks)?;
        Ok(Reply {
            blocks,
            api: Api::OpenaiChat.name().to_owned(),
            model: model.to_owned(),
            stop_reason,
            usage: self.usage,
        })
    }
}
