//! Transactions: one for a batch.

use super::{queue::Queued, severity::Severity};
use crate::{
    high_water::HighWater,
    ledger::{Fault, Ledger, Sums, WorkError},
};
use abide_fail_point::{Point, pass};
use rusqlite::Connection;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// The connection that writes, and what is counted beside it.
pub(super) struct Book {
    pub(super) connection: Connection,
    pub(super) sums: Sums,
    pub(super) high_water: HighWater,
    /// Transactions committed so far.
    pub(super) transactions: Arc<AtomicU64>,
}

impl Book {
    /// All of the batch in one transaction; the outcomes are as many as the batch is long.
    pub(super) fn transact(&mut self, batch: &mut [Queued]) -> rusqlite::Result<Vec<Result<(), WorkError>>> {
        let sums = self.sums;
        let outcomes = self.try_transact(batch);
        if outcomes.is_err() {
            self.roll_back(sums)?;
        }
        outcomes
    }

    fn try_transact(&mut self, batch: &mut [Queued]) -> rusqlite::Result<Vec<Result<(), WorkError>>> {
        let sums = self.sums;
        self.execute("BEGIN IMMEDIATE")?;
        let outcomes = if self.apply_all(batch)? {
            vec![Ok(()); batch.len()]
        } else {
            self.roll_back(sums)?;
            self.execute("BEGIN IMMEDIATE")?;
            batch.iter_mut().map(|queued| self.apply_apart(queued)).collect::<Result<_, _>>()?
        };
        pass(Point::Commit);
        self.execute("COMMIT")?;
        pass(Point::Committed);
        self.high_water.raise(self.sums.newest);
        self.transactions.fetch_add(1, Ordering::Relaxed);
        Ok(outcomes)
    }

    /// All work, without savepoints, which copy each page that is touched and are hardly ever needed. Says whether it went well; if
    /// not, nothing of it may stay.
    fn apply_all(&mut self, batch: &mut [Queued]) -> rusqlite::Result<bool> {
        for queued in batch {
            if self.apply(queued)?.is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One piece of work, in a savepoint of its own: whatever is wrong with it does not touch the others.
    fn apply_apart(&mut self, queued: &mut Queued) -> rusqlite::Result<Result<(), WorkError>> {
        let sums = self.sums;
        self.execute("SAVEPOINT work")?;
        let outcome = self.apply(queued)?;
        if outcome.is_err() {
            self.sums = sums;
            self.execute("ROLLBACK TO work")?;
        }
        self.execute("RELEASE work")?;
        Ok(outcome)
    }

    fn apply(&mut self, queued: &mut Queued) -> rusqlite::Result<Result<(), WorkError>> {
        let mut ledger = Ledger { connection: &self.connection, sums: &mut self.sums };
        match queued.work.apply(&mut ledger) {
            Ok(()) => Ok(Ok(())),
            Err(Fault::Refused(error)) => Ok(Err(error)),
            Err(Fault::Sqlite(error)) if Severity::of(&error) == Severity::Statement => {
                Ok(Err(WorkError::Invalid(error.to_string())))
            }
            Err(Fault::Sqlite(error)) => Err(error),
        }
    }

    fn roll_back(&mut self, sums: Sums) -> rusqlite::Result<()> {
        self.sums = sums;
        // Some errors have rolled it back already.
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK")?;
        }
        Ok(())
    }

    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }
}
