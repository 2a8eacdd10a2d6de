use serde_json::Value;
use std::time::Instant;

/// A received request and its outcome.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The conversation, by its marker.
    pub key: String,
    /// The number of the requested reply, from 0.
    pub turn: usize,
    /// How many requests for this reply came before.
    pub attempt: usize,
    /// When it arrived.
    pub at: Instant,
    /// When the reply began; the time before it is the server's own work.
    pub answered_at: Instant,
    pub body: Value,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub outcome: Outcome,
}

/// The outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Answering,
    /// The reply was sent completely.
    Answered,
    /// It got the script's fault.
    Failed,
    /// It violated a strict provider's rules.
    Refused,
    /// The client closed the connection before the end.
    Abandoned,
}

impl Seen {
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The whole request as text, to search in.
    #[must_use]
    pub fn text(&self) -> String {
        self.body.to_string()
    }
}
