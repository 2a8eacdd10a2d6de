//! The kinds of work for the writer, one file for each.

mod add_note;
mod add_rule;
mod append;
mod delete;
mod forget;
mod forget_rule;
mod index;
mod index_memory;
mod keep_history_snapshot;
mod keep_vectors;
mod mark_read;
mod prune;
mod rebuild;
mod rebuild_rules;
mod repair;

pub(crate) use add_note::AddNote;
pub(crate) use add_rule::AddRule;
pub(crate) use append::Append;
pub(crate) use delete::Delete;
pub use delete::Deleted;
pub(crate) use forget::Forget;
pub use forget::Forgotten;
pub(crate) use forget_rule::ForgetRule;
pub(crate) use index::Index;
pub(crate) use index_memory::IndexMemory;
pub(crate) use keep_history_snapshot::KeepHistorySnapshot;
pub(crate) use keep_vectors::KeepVectors;
pub(crate) use mark_read::MarkRead;
pub use prune::Prune;
pub(crate) use prune::PruneMemory;
pub(crate) use rebuild::Rebuild;
pub(crate) use rebuild_rules::RebuildRules;
pub(crate) use repair::Repair;

use crate::{
    committed::Committed,
    ledger::{Fault, Ledger, WorkError},
};
use std::sync::Arc;
use tokio::sync::oneshot;

/// A piece of work for the writer. It is applied within a transaction, and answered after the commit.
pub(crate) trait Work: Send {
    /// Writes to the database. Called again, from the start, if the transaction failed or other work in it
    /// was refused.
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault>;

    /// The changes to publish. Called once, after the commit.
    fn committed(&mut self) -> Option<Arc<Committed>> {
        None
    }

    /// Sends the outcome to the caller.
    fn answer(self: Box<Self>, outcome: Result<(), WorkError>);

    /// Whether the work may use the reserve on a full disk.
    fn is_urgent(&self) -> bool {
        false
    }

    /// Whether the work waits for room on a full disk. Other work is refused there.
    fn waits_for_room(&self) -> bool {
        false
    }

    /// Whether the caller no longer waits for the outcome.
    fn is_abandoned(&self) -> bool;

    /// Whether the work changes the remembered decisions. Called before [`Self::committed`].
    fn changes_rules(&self) -> bool {
        false
    }

    /// Whether the work asks the writer to make the database anew, and is no change itself.
    fn is_repair(&self) -> bool {
        false
    }

    /// Whether the work deletes content, whose copy in the log must be erased, too.
    fn erases(&self) -> bool {
        false
    }
}

/// Where the outcome of a piece of work is sent.
pub(crate) type Answer<T> = oneshot::Sender<Result<T, WorkError>>;
