//! What `abided` does besides being the daemon: one file for each argument.

pub(crate) mod check;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod memory;
pub(crate) mod personas;
pub(crate) mod prompts;
