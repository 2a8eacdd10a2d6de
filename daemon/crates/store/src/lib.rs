//! The durable records and their projections, in one SQLite file. The only crate that knows SQL.
//!
//! * [`Store::append`] commits records, all or none, and returns them as [`Committed`];
//! * the other methods of [`Store`] read, each from one consistent state of the database;
//! * [`Store::open`] refuses a database that it cannot read, and never replaces it by an empty one.
//!
//! Invariants:
//! * `records` is the truth and only grows (or loses a whole conversation); every other table can be rebuilt
//!   from it, except for read marks.
//! * One thread writes. Queued work is committed in one transaction, but an append that is refused does not
//!   affect the others.
//! * Nothing is published before it is on disk: first the commit, then the [`Sink`] in seq order, then the
//!   answers to the callers.
//! * A full disk is a state, not an error: appends wait for room. Any other failure to write is final.

mod backup;
mod canonical;
mod checksum;
mod column;
mod committed;
mod disk;
mod error;
mod examine;
mod feed;
mod files;
#[doc(hidden)]
pub mod fuzzing;
mod hidden;
mod high_water;
mod ledger;
mod loss;
mod memory;
mod migrate;
mod open;
mod project;
mod query;
mod reader;
mod renew;
mod reserve;
mod room;
mod rule_book;
mod rule_id;
mod search_index;
mod store;
mod stored_form;
mod withdrawal;
mod work;
mod writer;

pub use backup::{CopyError, Existing, Integrity};
pub use committed::{
    Append, ClientMessageUse, Committed, HistorySnapshot, Sink, StorageState, TaskProjection,
};
pub use error::{AppendError, OpenError, ReadError, Unreadable, WriteError};
pub use examine::Examined;
pub use feed::Feed;
pub use files::files;
pub use loss::Loss;
pub use query::{
    Addressee, ConversationQuery, Counts, Lookup, Meaning, MemorySize, Passage, PassageId, PendingRef,
    RecallQuery, SearchQuery, TaskCalls, TaskQuery, TreeOf, UsageQuery,
};
pub use renew::{Projector, RenewError, Salvaged};
pub use room::Room;
pub use rule_id::RuleId;
pub use store::{Options, Store};
pub use withdrawal::Withdrawal;
pub use work::{Deleted, Forgotten, Prune};
