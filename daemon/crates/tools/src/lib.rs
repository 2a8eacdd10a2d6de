//! Tools: what they are, whether a call may run, running it, and finding out what became of it. The only place that starts a process.
//!
//! A call is assessed ([`Tools::assess`]: schema, paths, permission, preview), prepared ([`Tools::prepare`]) and run
//! ([`Prepared::run`]), or after a crash looked at ([`Tools::inspect`]).
//!
//! * Files: beneath the workspace only, by descriptor; an edit is made against the very content that it was assessed with, and as a
//!   whole or not at all.
//! * Processes: each command runs under a [`helper`] that is tied to the daemon by a connection. When that closes, or the call is
//!   stopped, or the command ends, nothing that it started survives.
//! * Nothing here panics or fails as a whole: what cannot run is a denial, what goes wrong is a result, both in words for a model.
//!
//! Absent on purpose: the database, the clock of the day, any knowledge of tasks. There is no sandbox yet; `Sandbox` is its place.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "abide-tools watches processes through Linux's /proc, pidfd and subreaper; other systems need their own `helper` and `process`"
);

mod assess;
mod command;
mod edit;
pub mod environment;
mod error;
pub mod helper;
mod inspect;
mod process;
mod run;
mod sandbox;
mod text;
mod tool;
mod tools;
mod workspace;

pub use abide_protocol::record::EditState;
pub use error::Error;
pub use run::Prepared;
pub use tools::{Finished, Inspection, Options, Run, Scope, Tools};

use sandbox::Sandbox;
