//! Transactions, one for each batch.

use super::{queue::Queued, severity::Severity};
use crate::{
    high_water::HighWater,
    ledger::{Fault, Ledger, Totals, WorkError},
};
use abide_fail_point::{Point, pass};
use rusqlite::Connection;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// The writer's connection, and the totals kept beside it.
pub(super) struct Transactor {
    pub(super) connection: Connection,
    pub(super) totals: Totals,
    pub(super) high_water: HighWater,
    /// Transactions committed so far.
    pub(super) transactions: Arc<AtomicU64>,
}

impl Transactor {
    /// Commits the batch in one transaction. Returns one outcome for each piece of work.
    pub(super) fn transact(&mut self, batch: &mut [Queued]) -> rusqlite::Result<Vec<Result<(), WorkError>>> {
        let totals = self.totals;
        let outcomes = self.try_transact(batch);
        if outcomes.is_err() {
            self.roll_back(totals)?;
        }
        outcomes
    }

    fn try_transact(&mut self, batch: &mut [Queued]) -> rusqlite::Result<Vec<Result<(), WorkError>>> {
        let totals = self.totals;
        self.execute("BEGIN IMMEDIATE")?;
        let outcomes = if self.apply_all(batch)? {
            vec![Ok(()); batch.len()]
        } else {
            self.roll_back(totals)?;
            self.execute("BEGIN IMMEDIATE")?;
            batch.iter_mut().map(|queued| self.apply_apart(queued)).collect::<Result<_, _>>()?
        };
        pass(Point::Commit);
        self.execute("COMMIT")?;
        pass(Point::Committed);
        self.high_water.raise(self.totals.newest);
        self.transactions.fetch_add(1, Ordering::Relaxed);
        Ok(outcomes)
    }

    /// Applies all work without savepoints, which copy every page they touch and are hardly ever needed.
    /// Returns whether all work succeeded; if not, the caller rolls back.
    fn apply_all(&mut self, batch: &mut [Queued]) -> rusqlite::Result<bool> {
        for queued in batch {
            if self.apply(queued)?.is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Applies one piece of work in its own savepoint, so that its failure does not affect the others.
    fn apply_apart(&mut self, queued: &mut Queued) -> rusqlite::Result<Result<(), WorkError>> {
        let totals = self.totals;
        self.execute("SAVEPOINT work")?;
        let outcome = self.apply(queued)?;
        if outcome.is_err() {
            self.totals = totals;
            self.execute("ROLLBACK TO work")?;
        }
        self.execute("RELEASE work")?;
        Ok(outcome)
    }

    fn apply(&mut self, queued: &mut Queued) -> rusqlite::Result<Result<(), WorkError>> {
        let mut ledger = Ledger { connection: &self.connection, totals: &mut self.totals };
        match queued.work.apply(&mut ledger) {
            Ok(()) => Ok(Ok(())),
            Err(Fault::Refused(error)) => Ok(Err(error)),
            Err(Fault::Sqlite(error)) if Severity::of(&error) == Severity::Statement => {
                Ok(Err(WorkError::Invalid(error.to_string())))
            }
            Err(Fault::Sqlite(error)) => Err(error),
        }
    }

    fn roll_back(&mut self, totals: Totals) -> rusqlite::Result<()> {
        self.totals = totals;
        // After some errors SQLite has rolled back already.
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK")?;
        }
        Ok(())
    }

    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }
}
