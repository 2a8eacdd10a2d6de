//! Tools: what they are, whether a call may run, and running it. The only place that starts a process.

pub mod environment;
mod error;
pub mod helper;
mod sandbox;
mod tools;

pub use error::Error;
pub use sandbox::Sandbox;
pub use tools::{EditState, Finding, Finished, Options, Run, Scope, Tools};
