//! The connection to the daemon: two subscriptions, and requests.
//!
//! A subscription never ends by itself: when cut, it reconnects and resumes after the last record. Updates
//! within a frame are batched, so that live output redraws the window at most 25 times a second.

use abide_client::{
    AtHome, CallError, Client, ConnectError, Connector, Live, LiveOptions, Options, Update,
    autostart::Start,
    protocol::{
        ConversationId, ErrorKind, TaskId,
        method::{Reply, Request, subscription::Scope},
        notification::DaemonUpdate,
    },
};
use abide_host::Home;
use futures_util::{Stream, stream};
use iced::{Subscription, widget::Id};
use std::{
    hash::{Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout_at},
};

/// The name of this client.
pub const NAME: &str = "abide-gui";
/// The time between two batches of updates. Most of a frame's cost is its pixels, and nobody reads faster.
const FRAME: Duration = Duration::from_millis(40);
/// A connection that is made again sooner was no loss to a person.
const PATIENCE: Duration = Duration::from_secs(1);
/// The most updates of a batch.
const MAX_BATCH: usize = 2048;

/// The daemon of one home. Clones share their connection.
#[derive(Debug, Clone)]
pub struct Daemon {
    home: Home,
    client: Arc<Mutex<Option<Client>>>,
    may_start: Arc<AtomicBool>,
    /// Increased to subscribe again after an end.
    attempt: u32,
}

/// Why a request failed, for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub message: String,
    pub kind: Option<ErrorKind>,
}

impl Daemon {
    #[must_use]
    pub fn new(home: Home) -> Self {
        Self { home, client: Arc::default(), may_start: Arc::new(AtomicBool::new(true)), attempt: 0 }
    }

    /// The person wants the daemon back: starts it and subscribes again.
    pub fn again(&mut self) {
        self.attempt += 1;
        self.may_start.store(true, Ordering::Relaxed);
    }

    /// Sends a request.
    ///
    /// # Errors
    /// The failure, for a person.
    pub async fn ask(self, request: Request) -> Result<Reply, Failure> {
        Ok(self.client().await?.ask(&request).await?)
    }

    async fn client(&self) -> Result<Client, ConnectError> {
        let mut known = self.client.lock().await;
        if let Some(client) = known.as_ref().filter(|client| client.disconnected().is_none()) {
            return Ok(client.clone());
        }
        let client = self.connector(true).connect().await?;
        *known = Some(client.clone());
        Ok(client)
    }

    fn connector(&self, may_start: bool) -> AtHome {
        let start = (may_start && self.may_start.load(Ordering::Relaxed)).then(Start::default);
        let options = Options::new(NAME, env!("CARGO_PKG_VERSION")).at_named_socket();
        AtHome { home: self.home.clone(), options, start }
    }

    /// The folders of the daemon.
    #[must_use]
    pub const fn home(&self) -> &Home {
        &self.home
    }

    /// Conversations, tasks, inbox. Starts the daemon if it is not running.
    pub fn overview(&self) -> Subscription<Vec<Update>> {
        Subscription::run_with(Scoped { daemon: self.clone(), scope: Scope::Overview, view: None }, updates)
    }

    /// The same, without starting a daemon, and outside of a window. Ends if no daemon of this home can be
    /// spoken with.
    pub fn watched(self) -> impl Stream<Item = Vec<Update>> + use<> {
        self.may_start.store(false, Ordering::Relaxed);
        updates(&Scoped { daemon: self, scope: Scope::Overview, view: None })
    }

    /// One conversation, for this view of it.
    pub fn conversation(&self, id: ConversationId, view: &Id) -> Subscription<(ConversationId, Vec<Update>)> {
        self.scoped(Scope::Conversation(id), view).with(id)
    }

    /// One sub-task, for this view of it.
    pub fn task(&self, id: TaskId, view: &Id) -> Subscription<(TaskId, Vec<Update>)> {
        self.scoped(Scope::Task(id), view).with(id)
    }

    fn scoped(&self, scope: Scope, view: &Id) -> Subscription<Vec<Update>> {
        Subscription::run_with(Scoped { daemon: self.clone(), scope, view: Some(view.clone()) }, updates)
    }
}

/// Identifies a subscription: a new scope, view or attempt makes a new one.
struct Scoped {
    daemon: Daemon,
    scope: Scope,
    /// A view that is opened again is empty, so it needs a snapshot of its own.
    view: Option<Id>,
}

impl Hash for Scoped {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.daemon.home.data_dir.hash(state);
        self.daemon.attempt.hash(state);
        self.scope.hash(state);
        self.view.hash(state);
    }
}

fn updates(source: &Scoped) -> impl Stream<Item = Vec<Update>> + use<> {
    let feed = Feed::new(source.daemon.clone(), source.scope);
    // The first update is awaited at the first poll, because that is inside the runtime.
    stream::unfold((feed, Instant::now()), |(mut feed, next_frame)| async move {
        let batch = feed.batch(next_frame).await?;
        Some((batch, (feed, Instant::now() + FRAME)))
    })
}

/// Makes the connections of one subscription.
struct Source {
    daemon: Daemon,
    scope: Scope,
    is_waiting: Arc<AtomicBool>,
}

impl Connector for Source {
    async fn connect(&mut self) -> Result<Client, ConnectError> {
        // Only the overview starts a daemon, and not after a start that failed.
        let starts = self.scope == Scope::Overview && !self.is_waiting.load(Ordering::Relaxed);
        self.daemon.connector(starts).connect().await
    }

    /// A daemon that was told to stop is not started again until the person wants it.
    fn heard(&mut self, daemon: DaemonUpdate) {
        self.daemon.may_start.store(!daemon.shutting_down, Ordering::Relaxed);
    }
}

/// The updates of one subscription.
struct Feed {
    daemon: Daemon,
    scope: Scope,
    live: Option<Live>,
    /// The daemon could not be started: that was handed out, and the feed waits for somebody else to start
    /// one.
    is_waiting: Arc<AtomicBool>,
}

impl Feed {
    fn new(daemon: Daemon, scope: Scope) -> Self {
        Self { daemon, scope, live: None, is_waiting: Arc::default() }
    }

    fn is_waiting(&self) -> bool {
        self.is_waiting.load(Ordering::Relaxed)
    }

    fn live(&mut self) -> &mut Live {
        // Made once, not with each update.
        self.live.get_or_insert_with(|| {
            let (daemon, is_waiting) = (self.daemon.clone(), Arc::clone(&self.is_waiting));
            let source = Source { daemon, scope: self.scope, is_waiting };
            let options = LiveOptions { patience: PATIENCE, ..LiveOptions::default() };
            Live::eventually(source, self.scope, None, options)
        })
    }

    /// The next update for the window. `None`: there is none any more.
    async fn next(&mut self) -> Option<Update> {
        loop {
            let update = self.live().next().await;
            match &update {
                // The window shows why the start failed until a daemon is there.
                Update::Disconnected { .. } if self.is_waiting() => continue,
                Update::Ended { .. } if self.is_waiting() => return None,
                Update::Ended { .. } => {
                    self.live = None;
                    self.is_waiting.store(true, Ordering::Relaxed);
                }
                Update::Snapshot(_) | Update::Reconnected(_) => {
                    self.is_waiting.store(false, Ordering::Relaxed);
                }
                Update::Disconnected { .. } | Update::Notification(_) => {}
            }
            return Some(update);
        }
    }

    /// One batch: an update, at once if the last batch is a frame ago, with all that come before the frame is
    /// over.
    async fn batch(&mut self, next_frame: Instant) -> Option<Vec<Update>> {
        let mut batch = vec![self.next().await?];
        while batch.len() < MAX_BATCH {
            match timeout_at(next_frame, self.next()).await {
                Ok(Some(update)) => batch.push(update),
                Ok(None) | Err(_) => break,
            }
        }
        Some(batch)
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        Self { message: error.to_string(), kind: None }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self { kind: error.daemon().map(abide_client::protocol::Error::kind), message: error.to_string() }
    }
}
