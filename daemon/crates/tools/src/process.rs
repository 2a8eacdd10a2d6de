//! Processes as the kernel shows them: who they are, who descends from whom, and ending them for good.
//!
//! A process id alone is never trusted: it may have been given to another process meanwhile. What is signalled was opened as a
//! descriptor and then compared with its start time.

mod identity;
mod table;
mod tree;

pub(crate) use identity::Identity;
pub(crate) use tree::{Leftover, end_call, end_descendants, signal_descendants, wait_descendants, wait_gone};

/// In the environment of every process of a call: the call's id. Finds those that no parent leads to.
pub(crate) const MARK: &str = "ABIDE_CALL_ID";
