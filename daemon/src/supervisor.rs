//! The only place that spawns tasks: each has a name, is told to end, and is waited for.

use futures_util::FutureExt as _;
use std::{future::Future, panic::AssertUnwindSafe, path::PathBuf, time::Duration};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Why the daemon ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// A request or a signal; running attempts may take this long to finish.
    Asked { drain: Duration },
    /// All tasks are at a boundary, and this process executes another program.
    HandOver { program: PathBuf },
    /// The database can no longer be written: only a restart tells what is on disk.
    StoreFailed { reason: String },
}

/// Cheap to clone; all clones share their tasks.
#[derive(Debug, Clone, Default)]
pub struct Supervisor {
    tracker: TaskTracker,
    ending: CancellationToken,
}

impl Supervisor {
    /// Spawns a task. If it panics, the panic is logged and ends this task alone.
    #[expect(clippy::disallowed_methods, reason = "the one home of spawning; the tracker waits for it")]
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        drop(tokio::spawn(self.tracker.track_future(async move {
            if AssertUnwindSafe(task).catch_unwind().await.is_err() {
                tracing::error!(name, "a part of the daemon panicked; this is a defect");
            }
        })));
    }

    /// Resolves when the daemon ends.
    pub async fn ending(&self) {
        self.ending.cancelled().await;
    }

    #[must_use]
    pub fn is_ending(&self) -> bool {
        self.ending.is_cancelled()
    }

    /// Tells all tasks to end and waits for them, up to `deadline`.
    pub async fn end(&self, deadline: Duration) {
        self.ending.cancel();
        self.tracker.close();
        if tokio::time::timeout(deadline, self.tracker.wait()).await.is_err() {
            tracing::warn!(left = self.tracker.len(), "some parts did not end in time");
        }
    }
}
