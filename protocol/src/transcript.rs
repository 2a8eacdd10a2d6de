//! What goes to a model and comes back: blocks, replies, tools and their results.

use crate::{CallId, JsonText};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use strum::VariantNames;

/// A part of a model's reply, in the order the model gave them.
///
/// `opaque` is the provider's own JSON (signatures, encrypted reasoning, `extra_content`): sent back verbatim, only to the same
/// api and model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Block {
    Text(TextBlock),
    Reasoning(TextBlock),
    Call(CallBlock),
}

/// Text, for people or (as reasoning) not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextBlock {
    pub text: String,
    pub opaque: Option<JsonText>,
}

/// The model wants a tool to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallBlock {
    /// Ours, for all attempts.
    pub id: CallId,
    /// The provider's, sent back verbatim.
    pub provider_id: String,
    pub tool: String,
    /// As the model wrote them; possibly not JSON.
    pub arguments: String,
    pub opaque: Option<JsonText>,
}

/// A finished model reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    pub blocks: Vec<Block>,
    /// The wire API that it came by: `openai-chat`, `anthropic`, `scripted`.
    pub api: String,
    /// The model that was asked, as the provider names it.
    pub model: String,
    pub stop_reason: StopReason,
    pub usage: Usage,
}

impl Reply {
    /// The visible text: all text blocks, a blank line between.
    #[must_use]
    pub fn text(&self) -> String {
        join(
            self.blocks
                .iter()
                .filter_map(|b| if let Block::Text(t) = b { Some(t.text.as_str()) } else { None }),
        )
    }

    /// The reasoning, where the provider shows it.
    #[must_use]
    pub fn reasoning(&self) -> String {
        join(
            self.blocks
                .iter()
                .filter_map(|b| if let Block::Reasoning(t) = b { Some(t.text.as_str()) } else { None }),
        )
    }

    pub fn calls(&self) -> impl Iterator<Item = &CallBlock> {
        self.blocks.iter().filter_map(|b| if let Block::Call(c) = b { Some(c) } else { None })
    }
}

fn join<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.filter(|t| !t.trim().is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    ToolCalls,
    /// Cut at the token limit; a call in such a reply is dropped.
    Length,
    Refusal,
}

/// What model calls used. Tokens, except where the name says otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Input tokens that were neither read from nor written to a cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Part of `output`.
    pub reasoning: u64,
    pub model_calls: u64,
    /// Micro-dollars; absent if no price is known.
    pub cost_micros: Option<u64>,
}

impl Usage {
    /// All tokens. (Providers say what they like: sums stop at the top instead of starting over.)
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.input
            .saturating_add(self.output)
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }

    pub fn add(&mut self, more: &Self) {
        self.input = self.input.saturating_add(more.input);
        self.output = self.output.saturating_add(more.output);
        self.cache_read = self.cache_read.saturating_add(more.cache_read);
        self.cache_write = self.cache_write.saturating_add(more.cache_write);
        self.reasoning = self.reasoning.saturating_add(more.reasoning);
        self.model_calls = self.model_calls.saturating_add(more.model_calls);
        self.cost_micros = match (self.cost_micros, more.cost_micros) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
    }
}

/// A tool as models see it and as the engine treats it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// A JSON Schema (draft 2020-12) of the arguments, an object.
    pub parameters: JsonText,
    pub effect: EffectClass,
    pub risk: Risk,
    /// The tier: what happens to a call that no rule speaks of.
    pub tier: Tier,
}

/// What may be done with a call that was started and has no result (after a crash).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum EffectClass {
    /// Reads only: run again.
    Pure,
    /// Looking tells whether it happened: look, then run or record as done.
    Verifiable,
    /// Never run again by itself.
    Unsafe,
    /// Carried out by the engine, touches nothing outside.
    Control,
}

/// How much harm a call can do; for people, not for decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Risk {
    Low,
    Medium,
    High,
}

/// What a tool needs if nothing else decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Tier {
    Allow,
    Ask,
}

/// What a call came to. `message` is for people and models; `data` is for scripts and models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    pub ok: bool,
    pub data: Option<JsonText>,
    pub message: String,
    pub diagnostics: Vec<String>,
}

impl ToolResult {
    #[must_use]
    pub fn success(message: impl Into<String>, data: Option<JsonText>) -> Self {
        Self { ok: true, data, message: message.into(), diagnostics: Vec::new() }
    }

    #[must_use]
    pub fn failure(message: impl Into<String>) -> Self {
        Self { ok: false, data: None, message: message.into(), diagnostics: Vec::new() }
    }

    /// What the model reads: the message, then each field of `data` (long or multi-line texts raw, under their name), then
    /// the diagnostics.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = if self.ok { self.message.clone() } else { format!("error: {}", self.message) };
        if let Some(data) = &self.data {
            match data.value() {
                serde_json::Value::Object(fields) => {
                    for (name, value) in &fields {
                        push_field(&mut text, name, value);
                    }
                }
                other => push_field(&mut text, "data", &other),
            }
        }
        for diagnostic in &self.diagnostics {
            text.push_str("\nnote: ");
            text.push_str(diagnostic);
        }
        text
    }
}

fn push_field(text: &mut String, name: &str, value: &serde_json::Value) {
    use std::fmt::Write as _;
    match value {
        serde_json::Value::String(s) if s.is_empty() => {}
        serde_json::Value::String(s) if s.contains('\n') || s.len() > 80 => {
            let _ = write!(text, "\n{name}:\n{}", s.trim_end_matches('\n'));
        }
        serde_json::Value::String(s) => {
            let _ = write!(text, "\n{name}: {s}");
        }
        other => {
            let _ = write!(text, "\n{name}: {other}");
        }
    }
}

/// A part of what a model is sent. (Built by the engine, put into a provider's own words by the model crate; never on the wire, but
/// part of a stored checkpoint: a change raises `Checkpoint::FORM`.)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entry {
    /// A person's words.
    User(String),
    /// The system's words at the tail: nudges, restart notes. Sent as a user message.
    Note(String),
    /// An earlier reply. Its calls' results follow, each exactly once, in call order.
    Reply(Arc<Reply>),
    /// What was shown of a reply that was stopped.
    Partial(String),
    /// A call's result.
    Result(ResultEntry),
}

/// All entries, oldest first. Cheap to clone: a request shares the entries with the history, which goes on growing.
///
/// Two transcripts are equal if their entries are: the edition says how often this one was rewritten in memory.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    entries: Arc<Vec<Entry>>,
    edition: u64,
}

impl Transcript {
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Grows with each [`Self::rewrite`]: the entries that two states of a transcript of one edition have both are the same.
    #[must_use]
    pub const fn edition(&self) -> u64 {
        self.edition
    }

    pub fn push(&mut self, entry: Entry) {
        self.extend([entry]);
    }

    /// Changes what is there already.
    pub fn rewrite(&mut self, change: impl FnOnce(&mut [Entry])) {
        change(Arc::make_mut(&mut self.entries).as_mut_slice());
        self.edition += 1;
    }
}

impl PartialEq for Transcript {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl Eq for Transcript {}

impl Extend<Entry> for Transcript {
    fn extend<T: IntoIterator<Item = Entry>>(&mut self, more: T) {
        // Copied only if somebody still holds an earlier state.
        Arc::make_mut(&mut self.entries).extend(more);
    }
}

impl From<Vec<Entry>> for Transcript {
    fn from(entries: Vec<Entry>) -> Self {
        Self { entries: Arc::new(entries), edition: 0 }
    }
}

/// A call's result as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultEntry {
    pub call_id: CallId,
    /// Of the call, verbatim.
    pub provider_id: String,
    pub tool: String,
    pub ok: bool,
    pub text: String,
    /// `text` stands for an output that is left out to fit the model's context.
    pub elided: bool,
}
