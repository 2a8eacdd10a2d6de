//! The format of a script.

use abide_protocol::{record::ModelErrorKind, transcript::StopReason};
use serde::Deserialize;
use serde_json::Value;

/// A file of replies.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    /// The model's name: `provider/NAME`.
    name: String,
    /// The pause between two pieces of live output, in ms.
    #[serde(default)]
    pub(super) chunk_ms: u64,
    pub(super) replies: Vec<ScriptedReply>,
}

impl Script {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// One reply. Texts and the strings in `json` and in arguments may hold `{{answer}}` (of the last question),
/// `{{result}}` (of the last call), `{{result:TOOL}}` (of that tool's last call), `{{ends}}` (what sub-tasks
/// have reported, a line each) and `{{user}}`, each with `|default`, used if there is none.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ScriptedReply {
    pub(super) when: When,
    /// The pause before the first piece, in ms.
    pub(super) wait_ms: u64,
    pub(super) chunk_ms: Option<u64>,
    pub(super) reasoning: String,
    pub(super) text: String,
    /// An object that follows the text in a `json` fence; without a text it is the whole text.
    pub(super) json: Option<Value>,
    pub(super) calls: Vec<Call>,
    /// Absent: `tool_calls` if there are calls, else `end_turn`.
    pub(super) stop: Option<StopReason>,
    /// The attempt fails after the above was streamed. (So does every retry: the request is the same.)
    pub(super) fail: Option<Fail>,
    pub(super) usage: Tokens,
}

/// All conditions that are set must hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct When {
    /// How many replies came after a person's last message.
    pub(super) replies: Option<usize>,
    /// The request offers this tool.
    pub(super) offered: Option<String>,
    /// The request wants JSON of the schema with this name.
    pub(super) schema: Option<String>,
    /// The last call of this tool after a person's last message succeeded.
    pub(super) succeeded: Option<String>,
    /// The same, but it failed or was rejected.
    pub(super) failed: Option<String>,
    /// A person's last message contains this.
    pub(super) says: Option<String>,
    /// A note to the model contains this, at any time.
    pub(super) noted: Option<String>,
    /// The task is in this phase: the newest note of a phase that begins with `Phase: `, as the built-in ones
    /// do, names it.
    pub(super) phase: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) tool: String,
    /// An object; a string is sent as it is, valid JSON or not.
    #[serde(default)]
    pub(super) arguments: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fail {
    pub(super) kind: ModelErrorKind,
    #[serde(default)]
    pub(super) message: String,
    pub(super) retry_after_ms: Option<u64>,
}

/// The usage in the reply.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Tokens {
    pub(super) input: u64,
    pub(super) output: u64,
}
