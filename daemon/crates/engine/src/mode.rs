//! Modes: how a task decides what to do next. Adding one is one file here, with what it remembers and its rules, its texts in
//! `prompt/`, and its name in [`task_mode`].

mod agent;
mod auto;
mod block;
pub(crate) mod block_filter;
mod chat;
pub mod control;
mod plan;
pub mod prompt;
pub(crate) mod reading;
mod roa;
pub(crate) mod rules;
pub(crate) mod task_mode;
mod tree;
pub(crate) mod turn;
