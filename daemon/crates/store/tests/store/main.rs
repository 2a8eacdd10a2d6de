//! The store against real SQLite on a real disk.

#![expect(clippy::unwrap_used, reason = "these are tests; clippy knows only their functions as such")]

mod append;
mod call;
mod delete;
mod failing_disk;
mod group_commit;
mod hidden;
mod history;
mod history_snapshot;
mod inbox;
mod listing;
mod locked;
mod lookup;
mod meaning;
mod open;
mod rebuild;
mod recall;
mod recall_by_meaning;
mod recall_by_words;
mod recall_set;
mod renew;
mod rule;
mod search;
mod snapshot;
mod support;
mod task;
mod usage;
