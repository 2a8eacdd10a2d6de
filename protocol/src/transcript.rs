//! The content of model requests and replies: transcripts, blocks, tools and the results of calls.

use crate::{CallId, JsonText};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use strum::VariantNames;

/// A part of a model's reply. A reply has its blocks in the order in which the model gave them.
///
/// `opaque` is the provider's own JSON (signatures, encrypted reasoning, `extra_content`). It is sent back
/// verbatim, and only to the same API and model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Block {
    Text(TextBlock),
    Reasoning(TextBlock),
    Call(CallBlock),
}

/// Text of a reply, or of its reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextBlock {
    pub text: String,
    pub opaque: Option<JsonText>,
}

/// A call of a tool, which the model asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallBlock {
    /// Abide's id of the call, the same for all attempts.
    pub id: CallId,
    /// The provider's id of the call, sent back verbatim.
    pub provider_id: String,
    pub tool: String,
    /// The arguments, in the form that the tool's schema allows if that is clear; else as the model wrote
    /// them, possibly not valid JSON.
    pub arguments: String,
    pub opaque: Option<JsonText>,
}

/// A finished model reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    pub blocks: Vec<Block>,
    /// The provider's API: `openai-chat`, `openai-responses`, `anthropic`, `scripted`.
    pub api: String,
    /// The requested model, by the provider's name.
    pub model: String,
    pub stop_reason: StopReason,
    pub usage: Usage,
}

impl Reply {
    /// The visible text: all text blocks, separated by blank lines.
    #[must_use]
    pub fn text(&self) -> String {
        join(
            self.blocks
                .iter()
                .filter_map(|b| if let Block::Text(t) = b { Some(t.text.as_str()) } else { None }),
        )
    }

    /// The reasoning, if the provider sends it.
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

/// Why the model ended a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    ToolCalls,
    /// The reply was cut at the token limit. Calls in such a reply are dropped.
    Length,
    Refusal,
    /// The provider ended it before the model did: paused, aborted. Calls in such a reply are dropped.
    Unfinished,
    /// It was to hold calls, and has none: they are written in its text in a form that does not count, or did
    /// not come.
    LostCalls,
}

/// The usage of model calls. Numbers are of tokens, except where the name says otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Input tokens that were neither read from nor written to a cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Reasoning tokens, which are also counted in `output`.
    pub reasoning: u64,
    pub model_calls: u64,
    /// The cost in micro-dollars. Absent if no price is known.
    pub cost_micros: Option<u64>,
}

impl Usage {
    /// All tokens. (A provider may report any number, so sums saturate instead of wrapping around.)
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

/// A tool: its description for the model, and its properties for the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// The JSON Schema (draft 2020-12) of the arguments, which are an object.
    pub parameters: JsonText,
    pub effect: EffectClass,
    pub risk: Risk,
    /// What happens to a call that no rule matches.
    pub tier: Tier,
}

impl ToolSpec {
    /// Whether only a task that names the tool has it: it is other tools by another name.
    #[must_use]
    pub fn is_named_only(&self) -> bool {
        self.name == "code"
    }
}

/// The effect of a tool's calls. It decides what is done after a crash with a call that was started and has
/// no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum EffectClass {
    /// It only reads: it is run again.
    Pure,
    /// An inspection can tell if it took effect: if not, it is run; if so, it is recorded as done.
    Verifiable,
    /// It is never run again automatically.
    Unsafe,
    /// It is carried out by the engine, and has no effect outside.
    Control,
}

/// How much harm a call can do. Shown to people; no decision depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Risk {
    Low,
    Medium,
    High,
}

/// The permission of a tool's calls if no rule decides: allowed, or a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Tier {
    Allow,
    Ask,
}

/// The result of a call. `message` is for people and models, `data` for scripts and models.
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

    /// The text that is sent to the model: the message, then each field of `data` (a long or multi-line
    /// string verbatim below its name), then the diagnostics.
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

/// A part of a transcript. The engine makes entries, and the model crate converts them to a provider's
/// format. They are never on the wire, but in stored checkpoints: a change of this type raises
/// `Checkpoint::FORM`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entry {
    /// A person's message.
    User(String),
    /// A message of Abide's own, for example a nudge or the results of sub-tasks. Sent as a user message.
    Note(String),
    /// An earlier reply. The results of its calls follow, each exactly once, in call order.
    Reply(Arc<Reply>),
    /// The text shown of a reply that a stop cut off.
    Partial(String),
    /// A call's result.
    Result(ResultEntry),
    /// Results of calls that were read in a reply's text. The provider does not know of the calls: they are
    /// sent as a user message.
    Results(Vec<ResultEntry>),
}

impl Entry {
    /// The results in this entry.
    #[must_use]
    pub fn results(&self) -> &[ResultEntry] {
        match self {
            Self::Result(result) => std::slice::from_ref(result),
            Self::Results(results) => results,
            Self::User(_) | Self::Note(_) | Self::Reply(_) | Self::Partial(_) => &[],
        }
    }

    /// The results in this entry, to be changed.
    pub fn results_mut(&mut self) -> &mut [ResultEntry] {
        match self {
            Self::Result(result) => std::slice::from_mut(result),
            Self::Results(results) => results,
            Self::User(_) | Self::Note(_) | Self::Reply(_) | Self::Partial(_) => &mut [],
        }
    }
}

/// All entries that a model is sent, oldest first. Cheap to clone: a request shares the entries with the
/// history.
///
/// Two transcripts with equal entries are equal, whatever their editions.
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

    /// The number of [`Self::rewrite`]s. Between two states of a transcript with the same edition, entries
    /// were only added.
    #[must_use]
    pub const fn edition(&self) -> u64 {
        self.edition
    }

    pub fn push(&mut self, entry: Entry) {
        self.extend([entry]);
    }

    /// Changes, replaces or removes existing entries.
    pub fn rewrite(&mut self, change: impl FnOnce(&mut Vec<Entry>)) {
        change(Arc::make_mut(&mut self.entries));
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
        // The entries are copied only if a request still shares them.
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
    /// The provider's id of the call, verbatim.
    pub provider_id: String,
    pub tool: String,
    pub ok: bool,
    pub text: String,
    /// The output was left out to fit the model's context, and `text` says so.
    pub elided: bool,
}

impl ResultEntry {
    /// The result with a text that names its tool, where no call beside it does.
    #[must_use]
    pub fn named(self) -> Self {
        Self { text: format!("Result of {}:\n{}", self.tool, self.text), ..self }
    }
}
