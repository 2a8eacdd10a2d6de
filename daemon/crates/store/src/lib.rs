//! Durable records and what is derived from them, in one SQLite file. The only place that knows SQL.
//!
//! * [`Store::append`]: records in, [`Committed`] out, in one piece or not at all
//! * reads: methods of [`Store`], each on one consistent state of the database
//! * [`Store::open`] refuses what it cannot read; it never starts clean over someone's data
//!
//! Invariants:
//! * `records` is the truth and only grows (or loses a whole conversation); every other table can be rebuilt from it,
//!   except for read marks.
//! * One thread writes. What waits is committed together; each append stands or falls alone.
//! * Nobody hears of anything that is not on disk: commit, then the [`Sink`] in seq order, then the appenders.
//! * A full disk is a state, not an error: appends wait for room. Any other failure to write is final.

mod backup;
mod canonical;
mod checksum;
mod column;
mod committed;
mod disk;
mod error;
mod examine;
mod files;
#[doc(hidden)]
pub mod fuzzing;
mod hidden;
mod high_water;
mod ledger;
mod loss;
mod migrate;
mod open;
mod project;
mod query;
mod reader;
mod reserve;
mod rule_book;
mod rule_id;
mod search_index;
mod store;
mod stored_form;
mod work;
mod writer;

pub use backup::{CopyError, Existing, Integrity};
pub use committed::{Append, Checkpoint, ClientMessageUse, Committed, Sink, StorageState, TaskProjection};
pub use error::{AppendError, OpenError, ReadError, Unreadable, WriteError};
pub use examine::Examined;
pub use files::files;
pub use loss::Loss;
pub use query::{ConversationQuery, Counts, Lookup, PendingRef, SearchQuery, TaskCalls, TaskQuery};
pub use rule_id::RuleId;
pub use store::{Options, Store};
