use crate::config::prompts::PromptError;
use abide_client::home::HomeError;
use std::io;

/// Why a task cannot be started as requested.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("{reason}")]
    ModelUnavailable { reason: String },
    #[error("there is no persona {name:?}; config.toml defines them under [personas.NAME]")]
    NoPersona { name: String },
    #[error("there is no tool {name:?}; there are {}", known.join(", "))]
    NoTool { name: String, known: Vec<String> },
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("the workspace {path:?} is not an absolute path")]
    RelativeWorkspace { path: String },
    #[error("the workspace {path:?} cannot be used: {source}")]
    UnusableWorkspace { path: String, source: io::Error },
    #[error("the workspace {path:?} is not a folder")]
    NoFolder { path: String },
    #[error("the workspace {path:?} is not valid UTF-8")]
    NotUtf8 { path: String },
    #[error(transparent)]
    Scratch(HomeError),
    /// The daemon ends.
    #[error("the task was not started: the daemon is shutting down")]
    ShuttingDown,
}
