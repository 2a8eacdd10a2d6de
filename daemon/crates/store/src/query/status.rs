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
            // A task that waits for its sub-tasks works as long as one sub-task works.
            let mut statement = connection.prepare_cached(
                "WITH roots AS (
                     SELECT status, status LIKE 'waiting%' AND (status <> 'waiting_children' OR NOT EXISTS (
                         SELECT 1 FROM tasks AS below
                         WHERE below.conversation = root.conversation AND below.ended = 0
                           AND below.status NOT LIKE 'waiting%' AND below.status <> 'paused'
                     )) AS waits
                     FROM tasks AS root WHERE ended = 0 AND parent IS NULL
                 )
                 SELECT count(*) FILTER (WHERE NOT waits AND status <> 'paused'),
                        count(*) FILTER (WHERE waits),
                        count(*) FILTER (WHERE status = 'paused')
                 FROM roots",
            )?;
            let tasks = statement.query_row([], |row| {
                Ok(TaskCounts { running: count(row, 0)?, waiting: count(row, 1)?, paused: count(row, 2)? })
            })?;
            Ok(Counts { tasks, inbox: open_items(connection)? })
        })
        .await
    }
}
