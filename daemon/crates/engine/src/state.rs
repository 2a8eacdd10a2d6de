//! A conversation's state, folded from its records. The engine has no other state.

pub(crate) mod clock;
pub(crate) mod files;
pub(crate) mod fold;
mod fold_calls;
mod fold_task;
pub(crate) mod history;
mod imported;
mod intervened;
pub(crate) mod manifest;
pub(crate) mod recalled;
pub(crate) mod scratchpad;
pub(crate) mod snapshot;
pub(crate) mod status;
pub(crate) mod task;
pub(crate) mod trail;
pub(crate) mod transcript;
