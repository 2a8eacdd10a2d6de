//! Transactions: one for a batch, and in it a savepoint for each piece of work.

use super::{queue::Queued, severity::Severity};
use crate::work::{Fault, Ledger, Refusal};
use abide_fail_point::{Point, pass};
use rusqlite::Connection;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// The connection that writes, and what is counted beside it.
pub(super) struct Book {
    pub(super) connection: Connection,
    /// Open questions and approvals of all tasks.
    pub(super) open_items: u64,
    /// Transactions committed so far.
    pub(super) transactions: Arc<AtomicU64>,
}

impl Book {
    /// All of the batch in one transaction; the outcomes are as many as the batch is long.
    pub(super) fn transact(&mut self, batch: &mut [Queued]) -> rusqlite::Result<Vec<Result<(), Refusal>>> {
        let open_items = self.open_items;
        let outcomes = self.try_transact(batch);
        if outcomes.is_err() {
            self.open_items = open_items;
            // Some errors have rolled it back already.
            if !self.connection.is_autocommit() {
                self.connection.execute_batch("ROLLBACK")?;
            }
        }
        outcomes
    }

    fn try_transact(&mut self, batch: &mut [Queued]) -> rusqlite::Result<Vec<Result<(), Refusal>>> {
        self.execute("BEGIN IMMEDIATE")?;
        let outcomes = batch.iter_mut().map(|queued| self.apply(queued)).collect::<Result<Vec<_>, _>>()?;
        pass(Point::Commit);
        self.execute("COMMIT")?;
        pass(Point::Committed);
        self.transactions.fetch_add(1, Ordering::Relaxed);
        Ok(outcomes)
    }

    /// One piece of work, in a savepoint of its own: whatever is wrong with it does not touch the others.
    fn apply(&mut self, queued: &mut Queued) -> rusqlite::Result<Result<(), Refusal>> {
        let open_items = self.open_items;
        self.execute("SAVEPOINT work")?;
        let mut ledger = Ledger { connection: &self.connection, open_items: &mut self.open_items };
        let refusal = match queued.work.apply(&mut ledger) {
            Ok(()) => {
                self.execute("RELEASE work")?;
                return Ok(Ok(()));
            }
            Err(Fault::Refused(refusal)) => refusal,
            Err(Fault::Sqlite(error)) if Severity::of(&error) == Severity::Statement => {
                Refusal::Invalid(error.to_string())
            }
            Err(Fault::Sqlite(error)) => return Err(error),
        };
        self.open_items = open_items;
        self.execute("ROLLBACK TO work")?;
        self.execute("RELEASE work")?;
        Ok(Err(refusal))
    }

    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }
}
