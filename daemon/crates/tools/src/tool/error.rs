use super::{command::TextError, patch::PatchError};
use crate::{edit::EditError, sandbox::PlanError, text::one_line, workspace::PathError};
use abide_protocol::transcript::ToolSpec;
use std::io;

/// Why a call cannot run, in words that a model can act on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("there is no tool `{tool}`; there are: {known}")]
    Unknown { tool: String, known: String },
    #[error("the tool `{0}` is not available in this version of Abide")]
    NotHere(String),
    #[error("the arguments are not JSON: {0}")]
    NotJson(String),
    #[error("the arguments are not a JSON object")]
    NotAnObject,
    #[error("the arguments do not fit: {0}")]
    Arguments(String),
    #[error("the schema of `{tool}` cannot be used: {error}")]
    Schema { tool: String, error: String },
    #[error(transparent)]
    Path(#[from] PathError),
    #[error(transparent)]
    Patch(#[from] PatchError),
    #[error(transparent)]
    Text(#[from] TextError),
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error("`{0}` holds a text without words")]
    Blank(&'static str),
    #[error("the edit was never assessed")]
    Unassessed,
    #[error("there is no `{0}` on the PATH of this task; nothing ran")]
    NoProgram(&'static str),
    #[error("`{0}` is no longer a program outside of the folders that the task may write; nothing ran")]
    ProgramChanged(String),
    #[error("the command could not be started: {0}")]
    Start(io::Error),
    #[error("`outside` needs a `reason` for the user; or leave it out, and the command runs in the sandbox")]
    NoReason,
    #[error(
        "`{0}` waits for somebody at a terminal, and there is none; change files with `patch` or `write`, or with a command that asks nothing"
    )]
    WaitsAtTerminal(String),
    #[error("{0}; nothing ran")]
    Sandbox(#[from] PlanError),
    #[error(
        "this call was planned for the sandbox `{planned}`, and this machine has `{found}` now; nothing ran. Try it again"
    )]
    OtherSandbox { planned: String, found: &'static str },
    #[error("the glob is not valid: {0}")]
    Glob(#[from] globset::Error),
}

impl CallError {
    pub(crate) fn unknown(tool: &str, allowed: &[ToolSpec]) -> Self {
        let known = allowed.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>().join(", ");
        Self::Unknown { tool: one_line(tool, 60), known }
    }
}
