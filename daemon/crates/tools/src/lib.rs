//! Tools: what they are, whether a call may run, and running it. The only place that starts a process.

mod command;
mod edit;
pub mod environment;
mod error;
pub mod helper;
mod inspect;
mod plan;
mod process;
mod run;
mod sandbox;
mod text;
mod tool;
mod tools;
mod workspace;

pub use error::Error;
pub use sandbox::Sandbox;
pub use tools::{EditState, Finding, Finished, Options, Run, Scope, Tools};
