//! Processes as the kernel shows them: their identity, their descendants, and killing them.
//!
//! A process id alone is never trusted, since it may be reused. A process is opened as a descriptor and its
//! start time compared before it is signalled.

mod identity;
mod table;
mod tree;
mod usage;

pub(crate) use identity::Identity;
pub(crate) use tree::{
    Leftover, Patience, end_call, end_descendants, signal_descendants, wait_descendants, wait_gone,
};
pub(crate) use usage::Usage;

/// An environment variable with the call's id in every process of a call. The variable finds processes whose
/// parents are gone.
pub(crate) const MARK: &str = "ABIDE_CALL_ID";
