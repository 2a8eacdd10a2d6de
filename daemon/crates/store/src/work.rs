//! What the writer is asked to do. One file for each kind of work.

mod append;
mod delete;
mod forget_rule;
mod index;
mod keep_checkpoint;
mod mark_read;
mod rebuild;
mod rebuild_rules;

pub(crate) use append::Append;
pub(crate) use delete::Delete;
pub(crate) use forget_rule::ForgetRule;
pub(crate) use index::Index;
pub(crate) use keep_checkpoint::KeepCheckpoint;
pub(crate) use mark_read::MarkRead;
pub(crate) use rebuild::Rebuild;
pub(crate) use rebuild_rules::RebuildRules;

use crate::{
    committed::Committed,
    ledger::{Fault, Ledger, WorkError},
};
use std::sync::Arc;
use tokio::sync::oneshot;

/// A piece of work for the writer. It is done within a transaction and answered when that is on disk.
pub(crate) trait Work: Send {
    /// Writes. Called again, from the start, if the transaction did not come about or other work in it was refused.
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault>;

    /// What the sink is told; called once, after the commit.
    fn committed(&mut self) -> Option<Arc<Committed>> {
        None
    }

    /// Tells whoever asked.
    fn answer(self: Box<Self>, outcome: Result<(), WorkError>);

    /// May use the reserve on a full disk.
    fn is_urgent(&self) -> bool {
        false
    }

    /// Waits for room on a full disk; otherwise it is refused.
    fn waits_for_room(&self) -> bool {
        false
    }

    /// Nobody waits for the answer any more.
    fn is_abandoned(&self) -> bool;

    /// Changes which decisions are remembered. Asked before [`Self::committed`].
    fn changes_rules(&self) -> bool {
        false
    }

    /// Leaves something in the log that must not stay there.
    fn erases(&self) -> bool {
        false
    }
}

/// Who waits for the outcome of a piece of work.
pub(crate) type Answer<T> = oneshot::Sender<Result<T, WorkError>>;
