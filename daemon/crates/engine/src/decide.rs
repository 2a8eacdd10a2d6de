//! What follows from a state: the records that an input adds, and what the tasks do next by themselves.

pub(crate) mod accept;
pub(crate) mod advance;
pub(crate) mod children;
pub(crate) mod clock;
pub(crate) mod command;
pub mod compaction;
mod draft;
pub(crate) mod effect;
pub(crate) mod effects;
pub(crate) mod files;
pub(crate) mod import;
mod incomplete;
pub(crate) mod input;
mod limits;
mod note;
pub(crate) mod recalled;
mod schedule;
pub(crate) mod shown;
pub(crate) mod view;
