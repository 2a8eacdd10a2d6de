//! The model's replies and faults.

use super::Gate;
use serde_json::{Value, json};
use std::{fmt, sync::Arc};

/// The replies of a model in a conversation, by their number from 0.
#[derive(Clone)]
pub struct Script(Arc<dyn Fn(usize) -> Option<Turn> + Send + Sync>);

impl Script {
    /// Replies that are computed.
    pub fn by(turn: impl Fn(usize) -> Option<Turn> + Send + Sync + 'static) -> Self {
        Self(Arc::new(turn))
    }

    pub(super) fn turn(&self, number: usize) -> Option<Turn> {
        (self.0)(number)
    }
}

impl<const N: usize> From<[Turn; N]> for Script {
    fn from(turns: [Turn; N]) -> Self {
        Self::from(Vec::from(turns))
    }
}

impl From<Vec<Turn>> for Script {
    fn from(turns: Vec<Turn>) -> Self {
        Self::by(move |number| turns.get(number).cloned())
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Script")
    }
}

/// One reply, and the faults of its first attempts.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    pub(super) pieces: Vec<Piece>,
    pub(super) faults: Vec<Fault>,
    pub(super) manner: Manner,
}

/// A part of a reply, or a point in it.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    /// A delta of text; neighbours make one block.
    Text(String),
    /// A delta of reasoning; neighbours make one block.
    Reasoning(String),
    /// Reasoning that only the provider can read.
    Redacted,
    Call {
        tool: String,
        arguments: String,
    },
    Gate(Gate),
}

/// How a reply is sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Manner {
    /// Calls carry no `extra_content` of the provider's own.
    pub(super) is_plain: bool,
    /// How it comes back, if that is not how it was given.
    pub(super) read_as: Option<Box<Turn>>,
}

/// A fault instead of a reply.
#[derive(Debug, Clone)]
pub enum Fault {
    /// Another status than 200, with a `Retry-After` in seconds.
    Status { code: u16, retry_after: Option<u32> },
    /// The connection is closed before there is an answer.
    Close,
    /// The connection is cut after so many bytes of the reply's stream.
    Cut { after: usize },
    /// After so many bytes nothing more comes while the gate is shut; then the connection is cut.
    Stall { after: usize, gate: Gate },
    /// After so many events the provider says that it is overloaded.
    Reported { after_events: usize },
    /// After so many events the reply ends for that reason.
    Failed { after_events: usize },
}

impl Turn {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A reply that is only text.
    #[must_use]
    pub fn say(text: impl Into<String>) -> Self {
        Self::new().text(text)
    }

    /// A reply that ends the task.
    #[must_use]
    pub fn done(summary: &str) -> Self {
        Self::new().call("task_complete", json!({ "summary": summary }))
    }

    /// A reply that runs a shell command.
    #[must_use]
    pub fn shell(command: &str) -> Self {
        Self::new().call("shell", json!({ "command": command }))
    }

    /// A reply that runs a shell command outside of the sandbox, which asks everywhere.
    #[must_use]
    pub fn outside(command: &str) -> Self {
        let reason = "The test wants it so.";
        Self::new().call("shell", json!({ "command": command, "outside": true, "reason": reason }))
    }

    /// A reply that asks the user.
    #[must_use]
    pub fn ask(question: &str) -> Self {
        Self::new().call("ask_user", json!({ "question": question }))
    }

    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.with(Piece::Text(text.into()))
    }

    #[must_use]
    pub fn reasoning(self, text: impl Into<String>) -> Self {
        self.with(Piece::Reasoning(text.into()))
    }

    /// Reasoning that only the provider can read (not over OpenAI Chat Completions).
    #[must_use]
    pub fn redacted(self) -> Self {
        self.with(Piece::Redacted)
    }

    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "scripts write arguments where they pass them")]
    pub fn call(self, tool: &str, arguments: Value) -> Self {
        let arguments = arguments.to_string();
        self.with(Piece::Call { tool: tool.to_owned(), arguments })
    }

    /// Sends what follows only when the gate is open.
    #[must_use]
    pub fn gate(self, gate: &Gate) -> Self {
        self.with(Piece::Gate(gate.clone()))
    }

    /// It comes back as this reply: the client has read calls in its text, or has given its calls another
    /// form.
    #[must_use]
    pub fn read_as(mut self, turn: Self) -> Self {
        self.manner.read_as = Some(Box::new(turn));
        self
    }

    /// Its calls have no `extra_content`, which a proxy may rewrite although it must come back byte for byte
    /// (OpenAI Chat Completions only).
    #[must_use]
    pub fn plain(mut self) -> Self {
        self.manner.is_plain = true;
        self
    }

    /// The first attempt without a fault gets this one.
    #[must_use]
    pub fn but_first(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// All its text.
    pub(super) fn said(&self) -> String {
        self.pieces
            .iter()
            .filter_map(|piece| if let Piece::Text(text) = piece { Some(text.as_str()) } else { None })
            .collect()
    }

    /// The tool and the arguments of each call.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Call { tool, arguments } => Some((tool.as_str(), arguments.as_str())),
            _ => None,
        })
    }

    fn with(mut self, piece: Piece) -> Self {
        self.pieces.push(piece);
        self
    }
}
