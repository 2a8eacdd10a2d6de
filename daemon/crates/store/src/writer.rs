//! The one thread that writes: what waits is committed together.

mod book;
mod log;
mod queue;
mod severity;

pub(crate) use queue::{Lane, Queue};

use crate::{
    committed::{Sink, StorageState},
    error::OpenError,
    high_water::{HighWater, newest},
    ledger::{Sums, WorkError},
    query::open_items,
    reserve::{Reserve, Restored},
    rule_book::RuleBook,
};
use abide_fail_point::{Point, pass};
use book::Book;
use queue::{Job, Queued};
use rusqlite::{Connection, config::DbConfig};
use severity::Severity;
use std::{
    mem,
    path::Path,
    sync::{
        Arc,
        atomic::AtomicU64,
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};
use tokio::sync::{oneshot, watch};

/// Pieces of work in one transaction.
const BATCH: usize = 256;

/// How often to look whether there is room again.
const RETRY: Duration = Duration::from_millis(500);

/// Starts the thread. It ends when it is told to close, or when nobody can ask it anything any more.
pub(crate) fn start(
    path: &Path,
    reserve_bytes: u64,
    connection: Connection,
    rules: RuleBook,
    sink: Sink,
) -> Result<(Queue, watch::Receiver<StorageState>), OpenError> {
    rules.load(&connection).map_err(|e| OpenError::sqlite(path, &e))?;
    let sums = || Ok(Sums { open_items: open_items(&connection)?, newest: newest(&connection)? });
    let sums = sums().map_err(|e| OpenError::sqlite(path, &e))?;
    let transactions = Arc::new(AtomicU64::new(0));
    let (queue, jobs) = Queue::new(Arc::clone(&transactions));
    let (state, watched) = watch::channel(StorageState { full: false });
    let mut writer = Writer {
        book: Book { connection, sums, high_water: HighWater::beside(path, sums.newest), transactions },
        rules,
        sink,
        reserve: Reserve::beside(path, reserve_bytes),
        condition: Condition::Good,
        state,
        held: Vec::new(),
        log_holds_erased: false,
        look_at: Instant::now(),
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

struct Writer {
    book: Book,
    rules: RuleBook,
    sink: Sink,
    reserve: Reserve,
    condition: Condition,
    state: watch::Sender<StorageState>,
    /// What waits for room, or for a lock.
    held: Vec<Queued>,
    /// The log still has pages from before a deletion.
    log_holds_erased: bool,
    /// When to look (again) after what could not be done at once.
    look_at: Instant,
}

#[derive(Debug)]
enum Condition {
    Good,
    /// Only urgent work is tried.
    Full,
    /// Nothing is written any more. Why.
    Broken(String),
}

/// What the thread wakes up for.
enum Wake {
    /// There is work, or it is time to look after what waits.
    Up,
    Close(Option<oneshot::Sender<()>>),
}

impl Writer {
    fn run(mut self, jobs: &Receiver<Job>) {
        let mut batch = Vec::new();
        loop {
            let wake = self.wait(jobs, &mut batch);
            if !self.waits() {
                self.look_at = Instant::now() + RETRY;
            }
            self.take(mem::take(&mut batch));
            if self.waits() && self.look_at <= Instant::now() {
                self.look_after();
                self.look_at = Instant::now() + RETRY;
            }
            match wake {
                Wake::Up => {}
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

    /// Something could not be done at once, and has to be looked after.
    fn waits(&self) -> bool {
        match self.condition {
            Condition::Good => !self.held.is_empty() || self.log_holds_erased,
            Condition::Full => true,
            Condition::Broken(_) => false,
        }
    }

    /// Waits for work and takes all of it that is there.
    fn wait(&self, jobs: &Receiver<Job>, batch: &mut Vec<Queued>) -> Wake {
        let first = if self.waits() {
            jobs.recv_timeout(self.look_at.saturating_duration_since(Instant::now()))
        } else {
            jobs.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        let mut next = match first {
            Ok(job) => Some(job),
            Err(RecvTimeoutError::Timeout) => return Wake::Up,
            Err(RecvTimeoutError::Disconnected) => return Wake::Close(None),
        };
        while let Some(job) = next {
            match job {
                Job::Work(queued) => batch.push(queued),
                Job::Close(answer) => return Wake::Close(Some(answer)),
            }
            next = if batch.len() < BATCH { jobs.try_recv().ok() } else { None };
        }
        Wake::Up
    }

    fn take(&mut self, batch: Vec<Queued>) {
        match &self.condition {
            Condition::Good => self.commit(batch),
            Condition::Full => {
                let (urgent, rest) = batch.into_iter().partition(|queued| queued.work.is_urgent());
                self.shelve(rest);
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
        match self.book.transact(&mut batch) {
            Ok(outcomes) => self.publish(batch, outcomes),
            Err(error) => self.failed(batch, &error),
        }
    }

    /// Nothing of the batch is stored.
    fn failed(&mut self, batch: Vec<Queued>, error: &rusqlite::Error) {
        match Severity::of(error) {
            Severity::NoRoom => {
                self.set_condition(Condition::Full);
                let (urgent, rest): (Vec<_>, Vec<_>) =
                    batch.into_iter().partition(|queued| queued.work.is_urgent());
                self.shelve(rest);
                if !urgent.is_empty() && self.reserve.release() {
                    // Comes back here at most once: the reserve is gone then.
                    self.commit(urgent);
                } else {
                    self.shelve(urgent);
                }
            }
            Severity::Locked => {
                tracing::warn!(%error, "another process holds the database");
                self.held.extend(batch);
            }
            Severity::Statement | Severity::Final => self.break_down(batch, error),
        }
    }

    /// Keeps what waits for room, and refuses the rest.
    fn shelve(&mut self, batch: Vec<Queued>) {
        for queued in batch {
            if queued.work.waits_for_room() {
                self.held.push(queued);
            } else {
                queued.work.answer(Err(WorkError::Full));
            }
        }
    }

    /// SQLite cannot say what is on disk after this; only opening the database again can.
    fn break_down(&mut self, batch: Vec<Queued>, error: &rusqlite::Error) {
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

    /// It is on disk: first the sink hears of all, then those who asked of theirs.
    fn publish(&mut self, mut batch: Vec<Queued>, outcomes: Vec<Result<(), WorkError>>) {
        let mut changes_rules = false;
        for (queued, outcome) in batch.iter_mut().zip(&outcomes) {
            if outcome.is_ok() {
                changes_rules |= queued.work.changes_rules();
                self.log_holds_erased |= queued.work.erases();
                if let Some(committed) = queued.work.committed() {
                    (self.sink)(&committed);
                }
            }
        }
        if changes_rules && let Err(error) = self.rules.load(&self.book.connection) {
            self.break_down(Vec::new(), &error);
        }
        if self.log_holds_erased {
            self.empty_log();
        }
        pass(Point::Published);
        for (queued, outcome) in batch.into_iter().zip(outcomes) {
            queued.work.answer(outcome);
        }
        if let Err(error) = log::shorten(&self.book.connection) {
            self.log_failed(&error);
        }
    }

    /// Looks after what could not be done at once.
    fn look_after(&mut self) {
        if self.log_holds_erased {
            self.empty_log();
        }
        self.held.retain(|queued| !queued.work.is_abandoned());
        match self.condition {
            Condition::Good => {
                let held = mem::take(&mut self.held);
                self.commit(held);
            }
            Condition::Full => {
                if self.restore_reserve() {
                    self.try_held();
                }
            }
            Condition::Broken(_) => {}
        }
    }

    /// There is room for the reserve again; if there is for what waits too, all is well.
    fn try_held(&mut self) {
        let mut held = mem::take(&mut self.held);
        match self.book.transact(&mut held) {
            Ok(outcomes) => {
                self.set_condition(Condition::Good);
                self.publish(held, outcomes);
            }
            Err(error) => self.failed(held, &error),
        }
    }

    /// Says whether there is room for the reserve. Where there cannot be one for another reason, it goes without.
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

    /// Empties the log, so that nothing deleted can be read in it. Has to wait while somebody reads an older state.
    fn empty_log(&mut self) {
        match log::empty(&self.book.connection) {
            Ok(is_empty) => self.log_holds_erased = !is_empty,
            Err(error) => self.log_failed(&error),
        }
    }

    /// What is in the log is safe there; only a disk that fails is a reason to stop.
    fn log_failed(&mut self, error: &rusqlite::Error) {
        match Severity::of(error) {
            Severity::Final => self.break_down(Vec::new(), error),
            severity => tracing::debug!(%error, ?severity, "the log is brought into the database later"),
        }
    }

    fn close(mut self) {
        for queued in mem::take(&mut self.held) {
            queued.work.answer(Err(WorkError::Closed));
        }
        if !matches!(self.condition, Condition::Broken(_)) {
            let _ = self.book.connection.execute_batch("PRAGMA optimize");
            self.empty_log();
            // With everything in the database, closing may remove the log.
            let _ = self.book.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
        }
        if let Err((_, error)) = self.book.connection.close() {
            tracing::warn!(%error, "the database did not close cleanly; nothing is lost");
        }
    }
}
