//! Errors as they travel: JSON-RPC's integer code, words for a person, and data for a program.

use serde::{Deserialize, Serialize};
use strum::{VariantArray, VariantNames};

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// See [`ErrorKind::code`].
    pub code: i32,
    /// What happened, to what, and what to do.
    pub message: String,
    pub data: ErrorData,
}

/// For programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorData {
    pub kind: ErrorKind,
    /// The same request may succeed later.
    pub retryable: bool,
    /// The id that the error is about: of the running task for `task_running`, of the existing task for
    /// `conflict`; the newest `Seq` for a `subscribe` whose `since` is later.
    pub id: Option<String>,
    /// For `ambiguous`: what the id fits, at most [`MAX_CANDIDATES`] of them.
    pub candidates: Vec<Candidate>,
}

/// How many candidates an error names.
pub const MAX_CANDIDATES: usize = 10;

/// A task, conversation, question or approval that an ambiguous id fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    pub id: String,
    /// The conversation's title, or what is asked.
    pub title: String,
    /// The status of the task that it is or belongs to, as the wire names it; empty for a conversation
    /// without tasks.
    pub status: String,
}

/// All kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum ErrorKind {
    /// The line is not JSON.
    Parse,
    /// The JSON is not a request.
    InvalidRequest,
    MethodNotFound,
    InvalidParams,
    /// A defect of the daemon; its log has more.
    Internal,
    /// Too many requests wait; try again.
    Overloaded,
    NotFound,
    /// A part of an id fits several.
    Ambiguous,
    /// A `clientMessageId` was used with another payload, or a git worktree cannot be made or removed as
    /// things are.
    Conflict,
    /// The conversation has a running task.
    TaskRunning,
    /// Its subject is not in a state for this: the task has ended, say, or the configuration's file is
    /// refused.
    IllegalState,
    /// The caller is another user, or a tool's process.
    Forbidden,
    /// No protocol or codec in common.
    Unsupported,
    /// The disk is full; it goes on by itself when there is room.
    StorageFull,
    /// The database cannot be read or written.
    Storage,
    /// A frame, line or field is too large.
    TooLarge,
    ShuttingDown,
    /// No such provider or model, or it cannot be used.
    ModelUnavailable,
    /// The sandbox of this machine is less than the configuration requires for what was asked.
    SandboxRequired,
}

impl ErrorKind {
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

    /// The first five are JSON-RPC 2.0's own, the rest lie in its range for servers.
    #[must_use]
    pub const fn code(self) -> i32 {
        match self {
            Self::Parse => -32700,
            Self::InvalidRequest => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams => -32602,
            Self::Internal => -32603,
            Self::Overloaded => -32001,
            Self::NotFound => -32002,
            Self::Ambiguous => -32003,
            Self::Conflict => -32004,
            Self::TaskRunning => -32005,
            Self::IllegalState => -32006,
            Self::Forbidden => -32007,
            Self::Unsupported => -32008,
            Self::StorageFull => -32009,
            Self::Storage => -32010,
            Self::TooLarge => -32011,
            Self::ShuttingDown => -32012,
            Self::ModelUnavailable => -32013,
            Self::SandboxRequired => -32014,
        }
    }

    #[must_use]
    pub const fn retryable(self) -> bool {
        matches!(self, Self::Overloaded | Self::StorageFull | Self::ShuttingDown)
    }
}

impl Error {
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            code: kind.code(),
            message: message.into(),
            data: ErrorData { kind, retryable: kind.retryable(), id: None, candidates: Vec::new() },
        }
    }

    /// Sets the id that the error is about.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "ids are small, and `about(id)` reads better")]
    pub fn about(mut self, id: impl ToString) -> Self {
        self.data.id = Some(id.to_string());
        self
    }

    /// Sets what an ambiguous id fits.
    #[must_use]
    pub fn among(mut self, candidates: Vec<Candidate>) -> Self {
        self.data.candidates = candidates;
        self
    }

    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.data.kind
    }
}
