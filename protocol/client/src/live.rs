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

/// Updates that wait for their reader; when it is full, the connection waits, and in the end the daemon cuts
/// it.
const BUFFER: usize = 64;

/// A subscription that reconnects when it is cut and goes on after the last record it handed out: no record
/// is missing, none comes twice. Dropping it ends it.
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
    /// The whole state: replaces everything before it. Always first.
    Snapshot(Box<Snapshot>),
    Notification(Notification),
    /// The connection is gone; it is being made again. See [`LiveOptions::patience`].
    Disconnected {
        reason: String,
    },
    /// It is connected again. The snapshot has the current tasks, inbox and live output but no messages:
    /// missed records follow. (For the scope `overview`, which has no records, the snapshot is complete.)
    Reconnected(Box<Snapshot>),
    /// It has ended for good.
    Ended {
        reason: String,
    },
}

/// How a [`Live`] connects again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveOptions {
    /// The wait before the second attempt (the first is made at once); it doubles with each failure.
    pub first_wait: Duration,
    pub longest_wait: Duration,
    /// A connection that is made again within this time is no `Disconnected`. None is told before a second
    /// attempt has failed, however long that takes: this process may have been stopped meanwhile. Zero: each
    /// loss is told at once.
    pub patience: Duration,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self {
            first_wait: Duration::from_millis(50),
            longest_wait: Duration::from_secs(5),
            patience: Duration::ZERO,
        }
    }
}

/// Why subscribing failed.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Call(#[from] CallError),
}

impl LiveError {
    /// Whether a later attempt may succeed without anybody's help.
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
    /// Connects and subscribes: after `since`, else to a snapshot and what follows it.
    ///
    /// # Errors
    /// The first attempt failed. Later connections are tried until one succeeds.
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

    /// [`Self::open`], except that a failed first attempt is a `Disconnected` and is tried again.
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
            // The task sends `Ended` itself, unless it panics or the runtime shuts down.
            reason: "the subscription's task is gone".to_owned(),
        });
        if let Update::Ended { reason } = &update {
            self.ended = Some(reason.clone());
        }
        update
    }
}
