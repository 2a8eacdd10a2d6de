//! Tools against real files and real processes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod assess;
mod checkpoints;
mod code;
mod edits;
mod encodings;
mod fork_server;
mod ground;
mod guard;
mod hidden;
mod inspect;
mod limits;
mod named;
mod networks;
mod outlook;
mod paths;
mod prepare;
mod python;
mod renewed;
mod rules;
mod sandbox;
mod shell;
mod sub_tasks;
mod swaps;
mod tree;
mod unattended;
mod worktrees;
