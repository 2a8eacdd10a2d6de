//! The chunks of a streamed reply.

mod calls;

use crate::{
    assembly::{Assembly, Fault, Part},
    config::Api,
    fields::{Fields, Gathered},
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
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: Option<Fields<'a>>,
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
        }
    }

    /// The stop reason has come: only usage may follow.
    pub(super) const fn is_finished(&self) -> bool {
        self.finish_reason.is_some()
    }

    /// Adds an event to the reply, or leaves it out if it makes no sense.
    pub(super) fn event(&mut self, data: &str) -> Result<(), Fault> {
        match self.read(data) {
            Err(Fault::Malformed(what)) => self.reply.leave_out(what, data),
            read => read,
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
        let counts = chunk.take::<Counts>("usage");
        let choices = chunk.take::<Vec<Choice<'_>>>("choices")?;
        match counts {
            Ok(Some(counts)) => self.usage = counts.usage(),
            Ok(None) if choices.is_none() => self.reply.trace("an event of an unknown kind", data)?,
            Ok(None) => {}
            Err(_) => self.reply.trace("usage in an unknown form", data)?,
        }
        for choice in choices.unwrap_or_default() {
            // One choice was asked for; others are ignored.
            if choice.index != 0 {
                continue;
            }
            if let Some(delta) = choice.delta {
                self.delta(delta)?;
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
        for known in ["role", "function_call"] {
            delta.take_raw(known);
        }
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
        for call in delta.take::<Vec<Fields<'_>>>("tool_calls")?.unwrap_or_default() {
            self.calls.delta(&mut self.reply, call)?;
        }
        let size = self.rest.add(&delta)?;
        self.reply.grow(size)
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

    /// The reply, once the stream has ended properly.
    pub(super) fn finish(mut self, model: &str) -> Result<Reply, Fault> {
        let stop_reason = match self.finish_reason.as_deref() {
            Some("length" | "max_tokens" | "model_length") => StopReason::Length,
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
        Ok(Reply {
            blocks: self.reply.finish(stop_reason),
            api: Api::OPENAI_CHAT.name().to_owned(),
            model: model.to_owned(),
            stop_reason,
            usage: self.usage,
        })
    }
}

/// Token counts under the field names in use.
#[derive(Deserialize)]
struct Counts {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    prompt_cache_hit_tokens: Option<u64>,
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

impl Counts {
    fn usage(&self) -> Usage {
        let details = self.prompt_tokens_details.as_ref();
        let cache_read = details.and_then(|d| d.cached_tokens).or(self.prompt_cache_hit_tokens).unwrap_or(0);
        let cache_write = details.and_then(|d| d.cache_write_tokens).unwrap_or(0);
        Usage {
            input: self.prompt_tokens.unwrap_or(0).saturating_sub(cache_read).saturating_sub(cache_write),
            output: self.completion_tokens.unwrap_or(0),
            cache_read,
            cache_write,
            reasoning: self.completion_tokens_details.as_ref().and_then(|d| d.reasoning_tokens).unwrap_or(0),
            model_calls: 1,
            cost_micros: None,
        }
    }
}
