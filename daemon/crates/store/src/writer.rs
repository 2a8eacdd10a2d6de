//! The writer thread: it commits all waiting work in one transaction.

mod queue;
mod severity;
mod transactor;
mod wal;

pub(crate) use queue::{Lane, Queue};
pub(crate) use severity::Severity;

use crate::{
    committed::{Sink, StorageState},
    error::OpenError,
    high_water::{HighWater, newest},
    ledger::{Totals, WorkError},
    query::open_items,
    renew::{Projector, RenewError, renew},
    reserve::{Reserve, Restored},
    room::Room,
    rule_book::RuleBook,
};
use abide_fail_point::{Point, pass};
use queue::{Job, Queued};
use rusqlite::{Connection, config::DbConfig};
use std::{
    mem,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::AtomicU64,
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};
use tokio::sync::{oneshot, watch};
use transactor::Transactor;

/// The most pieces of work in one transaction.
const BATCH: usize = 256;

/// How often to check whether the disk has room again.
const RETRY: Duration = Duration::from_millis(500);

/// Starts the thread. The thread ends when it is told to close, or when the last [`Queue`] is dropped.
pub(crate) fn start(
    path: &Path,
    reserve_bytes: u64,
    mut connection: Connection,
    rules: RuleBook,
    sink: Sink,
    project: Option<Projector>,
) -> Result<(Queue, watch::Receiver<StorageState>), OpenError> {
    let totals = match (load(&connection, &rules), project) {
        (Err(error), Some(project)) if Severity::of(&error) == Severity::Damaged => {
            tracing::error!(%error, "the database is damaged: it is made anew from its records");
            renew(path, &mut connection, project)
                .map_err(|e| OpenError::Damaged { path: path.to_owned(), reason: format!("{error}; {e}") })?;
            load(&connection, &rules)
        }
        (loaded, _) => loaded,
    };
    let totals = totals.map_err(|e| OpenError::sqlite(path, &e))?;
    let transactions = Arc::new(AtomicU64::new(0));
    let (queue, jobs) = Queue::new(Arc::clone(&transactions));
    let (state, watched) = watch::channel(StorageState { full: false });
    let mut writer = Writer {
        transactor: Transactor {
            connection,
            totals,
            high_water: HighWater::beside(path, totals.newest),
            transactions,
        },
        rules,
        sink,
        path: path.to_owned(),
        project,
        reserve: Reserve::beside(path, reserve_bytes),
        condition: Condition::Good,
        needs: Room::of(path, reserve_bytes),
        state,
        held: Vec::new(),
        log_has_deleted_pages: false,
        retry_at: Instant::now(),
    };
    if !writer.restore_reserve() {
        writer.set_condition(Condition::Full);
    }
    thread::Builder::new()
        .name("store-writer".to_owned())
        .spawn(move || writer.run(&jobs))
        .map_err(|source| OpenError::Thread { path: path.to_owned(), source })?;
    Ok((queue, watched))
}

/// Reads the parts of tables that are kept in memory.
fn load(connection: &Connection, rules: &RuleBook) -> rusqlite::Result<Totals> {
    rules.load(connection)?;
    Ok(Totals { open_items: open_items(connection)?, newest: newest(connection)? })
}

struct Writer {
    transactor: Transactor,
    rules: RuleBook,
    sink: Sink,
    path: PathBuf,
    /// `None`: a damaged database is not made anew.
    project: Option<Projector>,
    reserve: Reserve,
    condition: Condition,
    /// The room that refused work is told of on a full disk.
    needs: Room,
    state: watch::Sender<StorageState>,
    /// Work that waits for room on the disk, or for a lock.
    held: Vec<Queued>,
    /// The log still has pages with deleted records.
    log_has_deleted_pages: bool,
    /// When to retry what could not be done.
    retry_at: Instant,
}

#[derive(Debug)]
enum Condition {
    Good,
    /// The disk is full: only urgent work is tried.
    Full,
    /// Nothing can be written any more; the reason.
    Broken(String),
}

/// Why the thread woke up.
enum Wake {
    /// There is work, or it is time to retry.
    Proceed,
    Close(Option<oneshot::Sender<()>>),
}

impl Writer {
    fn run(mut self, jobs: &Receiver<Job>) {
        let mut batch = Vec::new();
        loop {
            let wake = self.wait(jobs, &mut batch);
            if !self.needs_retry() {
                self.retry_at = Instant::now() + RETRY;
            }
            self.handle_batch(mem::take(&mut batch));
            // If nothing needs a retry, this call does nothing.
            if self.retry_at <= Instant::now() {
                self.retry();
                self.retry_at = Instant::now() + RETRY;
            }
            match wake {
                Wake::Proceed => {}
                Wake::Close(answer) => {
                    self.close();
                    if let Some(answer) = answer {
                        let _ = answer.send(());
                    }
                    return;
                }
            }
        }
    }

    /// Something could not be done and has to be retried.
    fn needs_retry(&self) -> bool {
        match self.condition {
            Condition::Good => !self.held.is_empty() || self.log_has_deleted_pages,
            Condition::Full => true,
            Condition::Broken(_) => false,
        }
    }

    /// Waits for work, and takes all that is queued, up to a batch.
    fn wait(&self, jobs: &Receiver<Job>, batch: &mut Vec<Queued>) -> Wake {
        let first = if self.needs_retry() {
            jobs.recv_timeout(self.retry_at.saturating_duration_since(Instant::now()))
        } else {
            jobs.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        let mut next = match first {
            Ok(job) => Some(job),
            Err(RecvTimeoutError::Timeout) => return Wake::Proceed,
            Err(RecvTimeoutError::Disconnected) => return Wake::Close(None),
        };
        while let Some(job) = next {
            match job {
                Job::Work(queued) => batch.push(queued),
                Job::Close(answer) => return Wake::Close(Some(answer)),
            }
            next = if batch.len() < BATCH { jobs.try_recv().ok() } else { None };
        }
        Wake::Proceed
    }

    fn handle_batch(&mut self, batch: Vec<Queued>) {
        match &self.condition {
            Condition::Good => {
                let (repairs, batch): (Vec<_>, _) =
                    batch.into_iter().partition(|queued| queued.work.is_repair());
                self.commit(batch);
                if !repairs.is_empty() {
                    let repaired = self.renew().map_err(WorkError::Invalid);
                    repairs.into_iter().for_each(|queued| queued.work.answer(repaired.clone()));
                }
            }
            Condition::Full => {
                let (urgent, rest) = batch.into_iter().partition(|queued| queued.work.is_urgent());
                self.hold_or_refuse(rest);
                self.commit(urgent);
            }
            Condition::Broken(reason) => {
                for queued in batch {
                    queued.work.answer(Err(WorkError::Broken(reason.clone())));
                }
            }
        }
    }

    fn commit(&mut self, mut batch: Vec<Queued>) {
        if batch.is_empty() {
            return;
        }
        match self.transactor.transact(&mut batch) {
            Ok(outcomes) => self.publish(batch, outcomes),
            Err(error) => self.failed(batch, &error),
        }
    }

    /// The transaction failed: nothing of the batch is committed.
    fn failed(&mut self, batch: Vec<Queued>, error: &rusqlite::Error) {
        match Severity::of(error) {
            Severity::NoRoom => {
                self.set_condition(Condition::Full);
                let (urgent, rest): (Vec<_>, Vec<_>) =
                    batch.into_iter().partition(|queued| queued.work.is_urgent());
                self.hold_or_refuse(rest);
                if !urgent.is_empty() && self.reserve.release() {
                    // This recurses at most once, because the reserve is gone then.
                    self.commit(urgent);
                } else {
                    self.hold_or_refuse(urgent);
                }
            }
            Severity::Locked => {
                tracing::warn!(%error, "another process holds the database");
                self.held.extend(batch);
            }
            Severity::Damaged => self.damaged(batch, error),
            Severity::Statement | Severity::Final => self.stop_writing(batch, error),
        }
    }

    /// Makes the database anew and tries the batch once more: the damage is mostly outside of records.
    fn damaged(&mut self, mut batch: Vec<Queued>, error: &rusqlite::Error) {
        tracing::error!(%error, "the database is damaged");
        if self.renew().is_err() {
            return self.stop_writing(batch, error);
        }
        match self.transactor.transact(&mut batch) {
            Ok(outcomes) => self.publish(batch, outcomes),
            Err(error) if Severity::of(&error) == Severity::Damaged => self.stop_writing(batch, &error),
            Err(error) => self.failed(batch, &error),
        }
    }

    /// Makes the database anew from its records. If a record cannot be read, the database stays as it is.
    fn renew(&mut self) -> Result<(), String> {
        let project = self.project.ok_or("it cannot be repaired here")?;
        let renewed = renew(&self.path, &mut self.transactor.connection, project);
        if renewed.as_ref().is_err_and(RenewError::is_of_records) {
            // Another try would fail, too, and every reader of the damaged record would ask for one.
            self.project = None;
        }
        let renewed = renewed
            .map_err(|error| error.to_string())
            .and_then(|()| load(&self.transactor.connection, &self.rules).map_err(|e| e.to_string()));
        match renewed {
            Ok(totals) => {
                self.transactor.totals = totals;
                tracing::warn!("the database was made anew from its records; nothing is lost");
                Ok(())
            }
            Err(reason) => {
                tracing::error!(reason, "the database cannot be made anew from its records");
                Err(reason)
            }
        }
    }

    /// Holds the work that may wait for room, and refuses the rest.
    fn hold_or_refuse(&mut self, batch: Vec<Queued>) {
        for queued in batch {
            if queued.work.waits_for_room() {
                self.held.push(queued);
            } else {
                queued.work.answer(Err(WorkError::Full(self.needs.clone())));
            }
        }
    }

    /// Refuses all work from now on, because after such an error only reopening the database tells what is on
    /// disk.
    fn stop_writing(&mut self, batch: Vec<Queued>, error: &rusqlite::Error) {
        tracing::error!(%error, "the database cannot be written any more");
        let reason = error.to_string();
        for queued in mem::take(&mut self.held).into_iter().chain(batch) {
            queued.work.answer(Err(WorkError::Broken(reason.clone())));
        }
        self.set_condition(Condition::Broken(reason));
    }

    fn set_condition(&mut self, condition: Condition) {
        let full = matches!(condition, Condition::Full);
        match (&self.condition, &condition) {
            (Condition::Good, Condition::Full) => tracing::warn!("the disk is full: appends wait for room"),
            (Condition::Full, Condition::Good) => tracing::info!("there is room on the disk again"),
            _ => {}
        }
        self.condition = condition;
        self.state.send_if_modified(|state| mem::replace(&mut state.full, full) != full);
    }

    /// After the commit: publishes everything to the sink, then replies to the callers.
    fn publish(&mut self, mut batch: Vec<Queued>, outcomes: Vec<Result<(), WorkError>>) {
        let mut changes_rules = false;
        for (queued, outcome) in batch.iter_mut().zip(&outcomes) {
            if outcome.is_ok() {
                changes_rules |= queued.work.changes_rules();
                self.log_has_deleted_pages |= queued.work.erases();
                if let Some(committed) = queued.work.committed() {
                    (self.sink)(&committed);
                }
            }
        }
        if changes_rules && let Err(error) = self.rules.load(&self.transactor.connection) {
            self.stop_writing(Vec::new(), &error);
        }
        if self.log_has_deleted_pages {
            self.truncate_log();
        }
        pass(Point::Published);
        for (queued, outcome) in batch.into_iter().zip(outcomes) {
            queued.work.answer(outcome);
        }
        if let Err(error) = wal::write_back_if_long(&self.transactor.connection) {
            self.log_failed(&error);
        }
    }

    /// Retries what could not be done.
    fn retry(&mut self) {
        if self.log_has_deleted_pages {
            self.truncate_log();
        }
        self.held.retain(|queued| !queued.work.is_abandoned());
        match self.condition {
            Condition::Good => {
                let held = mem::take(&mut self.held);
                self.commit(held);
            }
            Condition::Full => {
                if self.restore_reserve() {
                    self.retry_held();
                }
            }
            Condition::Broken(_) => {}
        }
    }

    /// The reserve is restored; commits the work that waited for room.
    fn retry_held(&mut self) {
        let mut held = mem::take(&mut self.held);
        match self.transactor.transact(&mut held) {
            Ok(outcomes) => {
                self.set_condition(Condition::Good);
                self.publish(held, outcomes);
            }
            Err(error) => self.failed(held, &error),
        }
    }

    /// Whether the reserve is in place. If the reserve cannot be made for another reason than a full disk,
    /// the store goes on without one.
    fn restore_reserve(&mut self) -> bool {
        match self.reserve.restore() {
            Restored::Held => true,
            Restored::NoRoom => false,
            Restored::Impossible(error) => {
                tracing::warn!(%error, "no room can be kept for a full disk");
                true
            }
        }
    }

    /// Empties the log, so that nothing deleted can be read there. Retried later while a reader uses an older
    /// state.
    fn truncate_log(&mut self) {
        match wal::truncate(&self.transactor.connection) {
            Ok(is_empty) => self.log_has_deleted_pages = !is_empty,
            Err(error) => self.log_failed(&error),
        }
    }

    /// The log's content is durable, so only a failing disk is a reason to stop.
    fn log_failed(&mut self, error: &rusqlite::Error) {
        match Severity::of(error) {
            Severity::Final => self.stop_writing(Vec::new(), error),
            severity => tracing::debug!(%error, ?severity, "the log is brought into the database later"),
        }
    }

    fn close(mut self) {
        for queued in mem::take(&mut self.held) {
            queued.work.answer(Err(WorkError::Closed));
        }
        if !matches!(self.condition, Condition::Broken(_)) {
            self.truncate_log();
            // The log is empty, so closing may remove it.
            let _ =
                self.transactor.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
        }
        if let Err((_, error)) = self.transactor.connection.close() {
            tracing::warn!(%error, "the database did not close cleanly; nothing is lost");
        }
    }
}
