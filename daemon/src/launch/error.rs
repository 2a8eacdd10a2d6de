use crate::{config::prompts::PromptError, persona::PersonaError};
use abide_host::home::HomeError;
use abide_protocol::limits::MAX_PROMPT;
use abide_tools::{NoWorktree, UnusablePath};
use std::{fmt, io};

/// Why a task cannot be started as requested.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("{reason}")]
    ModelUnavailable { reason: String },
    #[error(transparent)]
    Persona(#[from] PersonaError),
    #[error("there is no template {name:?}; {}", known_templates(known))]
    NoTemplate { name: String, known: Vec<String> },
    #[error(
        "the prompt has {size} bytes with its template, over the limit of {MAX_PROMPT}; put a part of it into a file"
    )]
    LongPrompt { size: usize },
    #[error("there is no tool {name:?}{named_by}; there are {}", known.join(", "))]
    NoTool { name: String, named_by: NamedBy, known: Vec<String> },
    #[error(
        "the tool {tool:?} needs the program {program:?}, and there is none on the PATH; install it, or start the task \
         without that tool"
    )]
    NoProgram { tool: String, program: &'static str },
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("a named file cannot be used: {0}")]
    File(#[from] UnusablePath),
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
    #[error("no worktree was made: {0}")]
    Worktree(#[from] NoWorktree),
    /// The daemon ends.
    #[error("the task was not started: the daemon is shutting down")]
    ShuttingDown,
}

/// Who names a task's tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedBy {
    Request,
    Template(String),
    /// With the place where it names them.
    Persona(String, String),
}

/// What follows the tool's name.
impl fmt::Display for NamedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request => Ok(()),
            Self::Template(name) => {
                write!(f, ", which `tools` under [templates.{name}] in config.toml names")
            }
            Self::Persona(name, place) => write!(f, ", which the persona {name:?} names: {place}"),
        }
    }
}

fn known_templates(known: &[String]) -> String {
    if known.is_empty() {
        return "config.toml defines them under [templates.NAME]".to_owned();
    }
    format!("there are {}", known.join(", "))
}
