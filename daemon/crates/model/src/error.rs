//! Errors of model calls, with messages for people.

use abide_protocol::record::ModelErrorKind;

/// A failed attempt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    /// What happened, where, and what to do about it. One line, no control characters, no key.
    pub message: String,
    /// How long the provider asks to wait before the next attempt, in ms.
    pub retry_after_ms: Option<u64>,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// The request was sent: the provider may have worked on it, and may charge for it.
    pub sent: bool,
}

impl ModelError {
    pub(crate) fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        use ModelErrorKind as K;
        let retryable = matches!(
            kind,
            K::RateLimited
                | K::Overloaded
                | K::ServerError
                | K::Network
                | K::Stalled
                | K::Malformed
                | K::Unreachable
        );
        let sent = kind != K::Unreachable;
        Self { kind, message: message.into(), retry_after_ms: None, retryable, sent }
    }

    /// Whether the provider rejected the request as invalid with one of these phrases, in lower case.
    pub(crate) fn refuses(&self, phrases: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        self.kind == ModelErrorKind::BadRequest && phrases.iter().any(|phrase| message.contains(phrase))
    }

    /// The error was found before anything was sent.
    pub(crate) const fn unsent(mut self) -> Self {
        self.sent = false;
        self
    }

    /// A retry would fail the same way.
    pub(crate) fn fatal(mut self) -> Self {
        self.retryable = false;
        self
    }
}
