use serde_json::Value;
use std::time::Instant;

/// A request that came, and what became of it.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The conversation, by its marker.
    pub key: String,
    /// Which reply it asks for, from 0.
    pub turn: usize,
    /// How often this reply was asked for before.
    pub attempt: usize,
    /// When it arrived.
    pub at: Instant,
    /// When its answer began: the server's own work is between the two.
    pub answered_at: Instant,
    pub body: Value,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub outcome: Outcome,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Answering,
    /// The reply was sent to its end.
    Answered,
    /// The fault that the script wanted.
    Failed,
    /// It was not as a strict provider wants it.
    Refused,
    /// The client went away before the end.
    Abandoned,
}

impl Seen {
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The whole request as text, to look for words in.
    #[must_use]
    pub fn text(&self) -> String {
        self.body.to_string()
    }
}
