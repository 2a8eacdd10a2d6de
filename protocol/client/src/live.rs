mod resume;

use crate::{CallError, ConnectError, Connector};
use abide_protocol::{
    Seq,
    method::subscription::Scope,
    notification::{Notification, Snapshot},
};
use resume::Resume;
use std::time::Duration;
use tokio::{sync::mpsc, task::JoinSet};

/// Updates that wait for their reader; then the connection waits, and in the end the daemon cuts it.
const BUFFER: usize = 64;

/// A subscription that keeps itself alive: cut, it connects again and goes on after the last record it handed out, so that no
/// record is missing and none comes twice. Dropping it ends it.
#[derive(Debug)]
pub struct Live {
    updates: mpsc::Receiver<Update>,
    /// Set when it has ended for good.
    ended: Option<String>,
    _task: JoinSet<()>,
}

/// What a [`Live`] hands out.
#[expect(clippy::large_enum_variant, reason = "most are notifications, and few live at a time")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// What there is: replaces everything. Always first.
    Snapshot(Box<Snapshot>),
    Notification(Notification),
    /// The connection is gone; it is being made again.
    Disconnected {
        reason: String,
    },
    /// It is back. The snapshot has the tasks, inbox and live output of now; of records it has none: those that were missed follow.
    /// (For the scope `overview`, which has no records, it is a whole snapshot.)
    Reconnected(Box<Snapshot>),
    /// It is over and will not come back by itself.
    Ended {
        reason: String,
    },
}

/// How a [`Live`] comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveOptions {
    /// Before the second attempt to connect (the first is made at once); doubles with each failure.
    pub first_wait: Duration,
    pub longest_wait: Duration,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self { first_wait: Duration::from_millis(50), longest_wait: Duration::from_secs(5) }
    }
}

/// Why there is no subscription.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Call(#[from] CallError),
}

impl LiveError {
    /// The same may succeed later without anybody's help.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Connect(error) => error.is_transient(),
            Self::Call(CallError::Daemon(error)) => error.data.retryable,
            Self::Call(CallError::Disconnected(_) | CallError::Timeout { .. }) => true,
            Self::Call(CallError::Decode { .. } | CallError::Encode { .. }) => false,
        }
    }
}

impl Live {
    /// Connects and subscribes: to everything after `since`, or else to a snapshot and what follows it.
    ///
    /// # Errors
    /// The first attempt failed; later ones are made until they succeed.
    pub async fn open(
        connector: impl Connector,
        scope: Scope,
        since: Option<Seq>,
        options: LiveOptions,
    ) -> Result<Self, LiveError> {
        let mut resume = Resume::new(connector, scope, since, options);
        let session = resume.subscribe().await?;
        Ok(Self::spawn(|updates| resume.run(Some(session), updates)))
    }

    /// [`Self::open`] for those who have time: if the first attempt fails, that is a `Disconnected` like any other.
    #[must_use]
    pub fn eventually(
        connector: impl Connector,
        scope: Scope,
        since: Option<Seq>,
        options: LiveOptions,
    ) -> Self {
        let resume = Resume::new(connector, scope, since, options);
        Self::spawn(|updates| resume.run(None, updates))
    }

    fn spawn<F>(run: impl FnOnce(mpsc::Sender<Update>) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (sender, updates) = mpsc::channel(BUFFER);
        let mut task = JoinSet::new();
        task.spawn(run(sender));
        Self { updates, ended: None, _task: task }
    }

    /// The next update; after `Ended` always `Ended`. Cancel-safe.
    pub async fn next(&mut self) -> Update {
        if let Some(reason) = &self.ended {
            return Update::Ended { reason: reason.clone() };
        }
        let update = self.updates.recv().await.unwrap_or_else(|| Update::Ended {
            // Only a defect or the end of the runtime stops the task without a word.
            reason: "the subscription's task is gone".to_owned(),
        });
        if let Update::Ended { reason } = &update {
            self.ended = Some(reason.clone());
        }
        update
    }
}
