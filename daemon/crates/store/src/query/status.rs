//! Counts for `status`.

use super::inbox::open_items;
use crate::{Store, column::count, error::ReadError};
use abide_protocol::method::daemon::TaskCounts;

/// Counts over all conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Root tasks that have not ended.
    pub tasks: TaskCounts,
    /// Open questions and approvals.
    pub inbox: u64,
}

impl Store {
    pub async fn counts(&self) -> Result<Counts, ReadError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT count(*) FILTER (WHERE status NOT LIKE 'waiting%' AND status <> 'paused'),
                        count(*) FILTER (WHERE status LIKE 'waiting%'),
                        count(*) FILTER (WHERE status = 'paused')
                 FROM tasks WHERE ended = 0 AND parent IS NULL",
            )?;
            let tasks = statement.query_row([], |row| {
                Ok(TaskCounts { running: count(row, 0)?, waiting: count(row, 1)?, paused: count(row, 2)? })
            })?;
            Ok(Counts { tasks, inbox: open_items(connection)? })
        })
        .await
    }
}
