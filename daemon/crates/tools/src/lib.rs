//! Tools: assesses calls, runs them, and finds out the effects of interrupted ones. No other crate of the
//! daemon starts a process.
//!
//! A call is assessed ([`Tools::assess`]: schema, paths, permission, preview), prepared ([`Tools::prepare`])
//! and run ([`Prepared::run`]). After a crash a call without a result is inspected ([`Tools::inspect`]).
//!
//! * Files: beneath the workspace only, by descriptor. An edit is written only if the file is as it was when
//!   assessed, and either whole or not at all.
//! * Processes: each command runs under a [`helper`] that holds a connection to the daemon. When the
//!   connection closes, the call is stopped or the command ends, everything that the command started is
//!   killed.
//! * Sub-tasks: Python code asks for sub-tasks on a line to the daemon, which starts them ([`SubTasks`]).
//! * Checkpoints: git keeps the states of a work tree's files, so that a task's changes can be shown and
//!   undone ([`Checkpoints`]).
//! * Worktrees: git makes a work tree for one task, and removes it when nothing in it would be lost
//!   ([`Worktrees`]).
//! * Nothing here panics: a call that may not run is denied, and an error is a result, in words for a model.
//!
//! * Guard: what a command leaves for other programs to run is found after the command and set aside.
//! * Sandbox: a helper confines itself before it takes its order, and the command inherits the confinement. A
//!   call that was assessed for a sandbox runs in that sandbox or not at all.
//!
//! Absent on purpose: the database, the wall clock, any knowledge of tasks.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "abide-tools watches processes through Linux's /proc, pidfd and subreaper; other systems need their own `helper` and `process`"
);

mod assess;
mod checkpoint;
mod command;
mod edit;
mod environment;
mod error;
mod folders;
mod guard;
pub mod helper;
mod inspect;
mod named;
mod named_files;
mod process;
mod run;
mod sandbox;
mod settings;
mod settle;
mod sub_tasks;
mod text;
mod tool;
mod tools;
mod workspace;
mod worktree;

pub use abide_protocol::checkpoint::{Ran, Window};
pub use abide_protocol::record::EditState;
pub use checkpoint::{Changes, CheckpointFolders, Checkpoints, NoCheckpoint, Place, Take, Taken, UndoOrder};
pub use error::Error;
pub use named_files::UnusablePath;
pub use run::Prepared;
pub use sandbox::try_sandbox;
pub use settings::{CommandLimits, SandboxSettings, Unasked};
pub use settle::settle;
pub use sub_tasks::{Answer, NoSubTasks, SubTasks};
pub use tool::recall_query;
pub use tools::{Finished, Inspection, Options, Run, Scope, Tools, missing};
pub use worktree::{NewWorktree, NoWorktree, Unmerged, Worktree, Worktrees};
