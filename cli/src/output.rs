//! Output. Renderers are pure: values in, text out. They always add colours; [`screen`] removes those where
//! they are not wanted.
//!
//! No meaning by a colour, a mark or a column alone: `heard` tests that. What succeeds needs no word; all
//! else has one.
//!
//! Invariant: text of models, tools and the daemon is rendered only through [`text`].

pub(crate) mod blanks;
pub(crate) mod call;
pub(crate) mod catalog;
pub(crate) mod changes;
pub(crate) mod config;
pub(crate) mod conversation;
pub(crate) mod files;
pub(crate) mod fold;
pub(crate) mod format;
pub(crate) mod history;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod measure;
pub(crate) mod message;
pub(crate) mod models;
pub(crate) mod pending;
pub(crate) mod provider;
pub(crate) mod ps;
pub(crate) mod qr;
pub(crate) mod recalled;
pub(crate) mod retry;
pub(crate) mod rule;
pub(crate) mod screen;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod tree;
pub(crate) mod usage;
pub(crate) mod worktree;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod heard;
