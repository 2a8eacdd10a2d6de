//! Modes: how a task decides what to do next. They know the protocol's types only.
//!
//! A mode is one file here: what it remembers of its task's records, what it wants next, the shape of its
//! requests, what it reads in a reply, and a table of what is fixed. Its texts are in `prompt/`, and its name
//! is in the list of [`task_mode`].

mod agent;
mod auto;
mod block;
pub(crate) mod block_filter;
mod chat;
pub mod control;
pub(crate) mod plan;
mod progress;
pub mod prompt;
pub(crate) mod reading;
mod roa;
pub(crate) mod rules;
pub(crate) mod task_mode;
mod tree;
pub(crate) mod turn;
