//! The thread that runs the built-in model.

use super::EmbedError;
use crate::allocator;
use abide_embedding::{OpenError, Vector};
use std::{
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::Instant,
};
use tokio::sync::oneshot;

/// The most requests that wait. The index requests passages one by one, so a query waits for one passage.
const QUEUE: usize = 16;

pub(super) struct BuiltIn {
    model: PathBuf,
    /// `None`: the thread was not needed yet, or has failed.
    jobs: Mutex<Option<SyncSender<Job>>>,
}

/// How much of a processor that others want a job gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Priority {
    /// Somebody waits for it, perhaps beside builds that take all processors.
    Usual,
    /// Everything else comes first.
    Low,
}

struct Job {
    texts: Vec<String>,
    priority: Priority,
    answer: oneshot::Sender<Result<Vec<Vector>, OpenError>>,
}

impl BuiltIn {
    pub(super) const fn new(model: PathBuf) -> Self {
        Self { model, jobs: Mutex::new(None) }
    }

    /// A model that is removed while it is loaded serves no more.
    pub(super) async fn is_installed(&self) -> bool {
        let model = self.model.clone();
        tokio::task::spawn_blocking(move || model.exists()).await.unwrap_or(false)
    }

    pub(super) async fn embed(
        &self,
        texts: &[String],
        priority: Priority,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let (answer, answered) = oneshot::channel();
        self.hand_in(Job { texts: texts.to_vec(), priority, answer })?;
        let vectors = answered.await.map_err(|_| EmbedError::Busy)??;
        Ok(vectors.iter().map(|vector| vector.as_slice().to_vec()).collect())
    }

    fn hand_in(&self, job: Job) -> Result<(), EmbedError> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let job = match &*jobs {
            None => job,
            Some(thread) => match thread.try_send(job) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(_)) => return Err(EmbedError::Busy),
                Err(TrySendError::Disconnected(job)) => job,
            },
        };
        let (sender, receiver) = sync_channel(QUEUE);
        let model = self.model.clone();
        let started =
            thread::Builder::new().name("embedding".to_owned()).spawn(move || serve(model, &receiver));
        started.map_err(|_| EmbedError::Busy)?;
        sender.try_send(job).map_err(|_| EmbedError::Busy)?;
        *jobs = Some(sender);
        Ok(())
    }
}

/// Ends when the daemon drops its end of the channel.
fn serve(model: PathBuf, jobs: &Receiver<Job>) {
    let mut embedder = abide_embedding::Embedder::new(model);
    let mut idle_at: Option<Instant> = None;
    loop {
        let job = match idle_at {
            None => jobs.recv().map_err(RecvTimeoutError::from),
            Some(at) => jobs.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        match job {
            // Nobody waits for an answer that comes too late.
            Ok(Job { answer, .. }) if answer.is_closed() => {}
            Ok(Job { texts, priority, answer }) => {
                let mut embed = || texts.iter().map(|text| embedder.embed(text, Instant::now())).collect();
                let vectors = match priority {
                    Priority::Usual => Ok(embed()),
                    Priority::Low => at_low_priority(embed),
                };
                // Whoever waits for a failed thread finds the channel closed.
                let _ = vectors.map(|vectors| answer.send(vectors));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let was_loaded = idle_at.is_some();
        idle_at = embedder.drop_idle(Instant::now());
        if was_loaded && idle_at.is_none() {
            allocator::trim();
        }
    }
}

/// Runs the work on a new thread, because a thread that has lowered its priority cannot raise it again.
fn at_low_priority<T: Send>(work: impl FnOnce() -> T + Send) -> thread::Result<T> {
    thread::scope(|scope| {
        let lowered = scope.spawn(|| {
            // Elsewhere this would be the priority of the whole process.
            #[cfg(target_os = "linux")]
            if let Err(error) = rustix::process::nice(10) {
                tracing::debug!(%error, "passages are embedded at the usual priority");
            }
            work()
        });
        lowered.join()
    })
}
