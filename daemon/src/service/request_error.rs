//! Turns errors into error replies.

use crate::{launch::LaunchError, session::CommandError};
use abide_engine::{ImportError, Refusal};
use abide_protocol::{Error, ErrorKind};
use abide_store::{AppendError, ReadError, WriteError};

/// An error reply. (Needed for the conversions: both the sources and the wire's error type belong to other
/// crates.)
#[derive(Debug)]
pub(super) struct RequestError(Error);

impl From<RequestError> for Error {
    fn from(error: RequestError) -> Self {
        error.0
    }
}

impl From<Error> for RequestError {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<ReadError> for RequestError {
    fn from(error: ReadError) -> Self {
        Self(match error {
            ReadError::Cursor(_) => Error::new(ErrorKind::InvalidParams, error.to_string()),
            ReadError::Closed => Error::new(ErrorKind::ShuttingDown, "the daemon is shutting down"),
            error => {
                tracing::error!("{error}");
                Error::new(ErrorKind::Storage, format!("{error}; `abide doctor` can tell more"))
            }
        })
    }
}

impl From<WriteError> for RequestError {
    fn from(error: WriteError) -> Self {
        let kind = match error {
            WriteError::ConversationGone(_) => ErrorKind::NotFound,
            WriteError::Full(_) => ErrorKind::StorageFull,
            WriteError::Closed => ErrorKind::ShuttingDown,
            WriteError::Invalid { .. } => ErrorKind::Internal,
            WriteError::Failed { .. } => ErrorKind::Storage,
        };
        Self(Error::new(kind, error.to_string()))
    }
}

impl From<CommandError> for RequestError {
    fn from(error: CommandError) -> Self {
        let kind = match &error {
            CommandError::Refused(refusal) => match refusal {
                Refusal::TaskRunning(task) => {
                    return Self(Error::new(ErrorKind::TaskRunning, error.to_string()).about(task));
                }
                Refusal::AtWork(task) => {
                    return Self(Error::new(ErrorKind::TaskRunning, error.to_string()).about(task));
                }
                Refusal::Held(above) => {
                    return Self(Error::new(ErrorKind::IllegalState, error.to_string()).about(above));
                }
                Refusal::NotAChoice(_)
                | Refusal::NoSuchRule(_)
                | Refusal::OnlyOnce(_)
                | Refusal::NotForTask => ErrorKind::InvalidParams,
                Refusal::NoConversation | Refusal::NoTask => ErrorKind::NotFound,
                // They were there: the store has found them.
                Refusal::NoQuestion | Refusal::NoApproval => ErrorKind::IllegalState,
                Refusal::Ended(_)
                | Refusal::NotPaused
                | Refusal::Undoing
                | Refusal::Answered(_)
                | Refusal::Decided(_)
                | Refusal::NotForked(_)
                | Refusal::Stale => ErrorKind::IllegalState,
            },
            CommandError::Overloaded => ErrorKind::Overloaded,
            CommandError::Store(AppendError::ConversationGone(_)) => ErrorKind::NotFound,
            CommandError::Store(AppendError::Full(_)) => ErrorKind::StorageFull,
            CommandError::Store(AppendError::Withdrawn) => ErrorKind::IllegalState,
            CommandError::Store(AppendError::DuplicateTaskId(task)) => {
                let words = format!("task {} has this id already; choose another one", task.short());
                return Self(Error::new(ErrorKind::Conflict, words).about(task));
            }
            CommandError::Store(AppendError::DuplicateClientMessage { .. }) => ErrorKind::Conflict,
            CommandError::Store(AppendError::Closed) | CommandError::ShuttingDown | CommandError::CutOff => {
                ErrorKind::ShuttingDown
            }
            CommandError::Store(AppendError::Invalid { .. }) => ErrorKind::Internal,
            CommandError::Store(AppendError::Failed { .. }) | CommandError::Load(_) => ErrorKind::Storage,
            CommandError::Write(error) => return error.clone().into(),
        };
        if kind == ErrorKind::Internal {
            tracing::error!("{error}");
        }
        Self(Error::new(kind, error.to_string()))
    }
}

impl From<ImportError> for RequestError {
    fn from(error: ImportError) -> Self {
        Self(Error::new(ErrorKind::InvalidParams, format!("the messages cannot be imported: {error}")))
    }
}

impl From<LaunchError> for RequestError {
    fn from(error: LaunchError) -> Self {
        let kind = match &error {
            LaunchError::ModelUnavailable { .. } => ErrorKind::ModelUnavailable,
            LaunchError::Persona(_)
            | LaunchError::NoTemplate { .. }
            | LaunchError::NoTool { .. }
            | LaunchError::NoProgram { .. }
            | LaunchError::Prompt(_)
            | LaunchError::File(_)
            | LaunchError::RelativeWorkspace { .. }
            | LaunchError::UnusableWorkspace { .. }
            | LaunchError::NoFolder { .. }
            | LaunchError::NotUtf8 { .. } => ErrorKind::InvalidParams,
            LaunchError::Worktree(_) => ErrorKind::Conflict,
            LaunchError::LongPrompt { .. } => ErrorKind::TooLarge,
            LaunchError::Scratch(_) => ErrorKind::Storage,
            LaunchError::ShuttingDown => ErrorKind::ShuttingDown,
        };
        Self(Error::new(kind, error.to_string()))
    }
}
