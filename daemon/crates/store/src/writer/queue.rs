//! The queue to the writer. Two lanes, so that waiting ordinary work never keeps out a stop or an answer.

use crate::{
    ledger::WorkError,
    work::{Answer, Work},
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
    mpsc::{Receiver, SyncSender, sync_channel},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// The most pieces of work in a lane. Further callers wait for a place.
const LANE: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    Ordinary,
    Urgent,
}

pub(super) enum Job {
    Work(Queued),
    Close(oneshot::Sender<()>),
}

/// A piece of work and its place in the lane, which is freed when the work is answered.
pub(super) struct Queued {
    pub(super) work: Box<dyn Work>,
    _place: OwnedSemaphorePermit,
}

#[derive(Debug, Clone)]
pub(crate) struct Queue {
    /// The channel is never full: it has room for both lanes.
    jobs: SyncSender<Job>,
    ordinary: Arc<Semaphore>,
    urgent: Arc<Semaphore>,
    transactions: Arc<AtomicU64>,
}

impl Queue {
    pub(super) fn new(transactions: Arc<AtomicU64>) -> (Self, Receiver<Job>) {
        let (jobs, receiver) = sync_channel(2 * LANE);
        let lane = || Arc::new(Semaphore::new(LANE));
        (Self { jobs, ordinary: lane(), urgent: lane(), transactions }, receiver)
    }

    /// Hands work to the writer, and waits for its outcome.
    pub(crate) async fn run<T, W: Work + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce(Answer<T>) -> W,
    ) -> Result<T, WorkError> {
        let place = self.place(lane).await?;
        let (answer, outcome) = oneshot::channel();
        let job = Job::Work(Queued { work: Box::new(work(answer)), _place: place });
        self.jobs.try_send(job).map_err(|_| WorkError::Closed)?;
        outcome.await.map_err(|_| WorkError::Closed)?
    }

    /// Ends the writer after the work handed in before.
    pub(crate) async fn close(&self) {
        let Ok(_place) = self.place(Lane::Urgent).await else { return };
        let (answer, closed) = oneshot::channel();
        if self.jobs.try_send(Job::Close(answer)).is_ok() {
            let _ = closed.await;
        }
    }

    pub(crate) fn transactions(&self) -> u64 {
        self.transactions.load(Ordering::Relaxed)
    }

    async fn place(&self, lane: Lane) -> Result<OwnedSemaphorePermit, WorkError> {
        let lane = match lane {
            Lane::Ordinary => &self.ordinary,
            Lane::Urgent => &self.urgent,
        };
        Arc::clone(lane).acquire_owned().await.map_err(|_| WorkError::Closed)
    }
}
