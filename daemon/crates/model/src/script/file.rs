//! What a script may say.

use abide_protocol::{record::ModelErrorKind, transcript::StopReason};
use serde::Deserialize;
use serde_json::Value;

/// A file of replies.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    /// The model's name: `provider/NAME`.
    name: String,
    /// Between two pieces of live output, in ms.
    #[serde(default)]
    pub(super) chunk_ms: u64,
    pub(super) replies: Vec<Line>,
}

impl Script {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// One reply. Texts and the strings in arguments may hold `{{answer}}` (of the last question), `{{result}}` (of the last call),
/// `{{result:TOOL}}` (of that tool's last call) and `{{user}}`, each with `|what else` for when there is none.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Line {
    pub(super) when: When,
    /// Before the first piece, in ms.
    pub(super) wait_ms: u64,
    pub(super) chunk_ms: Option<u64>,
    pub(super) reasoning: String,
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
    /// Absent: `tool_calls` if there are calls, else `end_turn`.
    pub(super) stop: Option<StopReason>,
    /// The attempt fails after all of the above was streamed. (Every attempt: the request is the same.)
    pub(super) fail: Option<Fail>,
    pub(super) usage: Tokens,
}

/// All that is given must hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct When {
    /// Replies since a person's last words.
    pub(super) replies: Option<usize>,
    /// The request offers this tool.
    pub(super) offered: Option<String>,
    /// The last call of this tool since a person's last words succeeded.
    pub(super) succeeded: Option<String>,
    /// Likewise, failed or was rejected.
    pub(super) failed: Option<String>,
    /// A person's last words have this in them.
    pub(super) says: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) tool: String,
    /// An object; a string stands for itself, valid or not.
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

/// What the reply says it used.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Tokens {
    pub(super) input: u64,
    pub(super) output: u64,
}
