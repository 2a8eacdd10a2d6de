//! One actor for each conversation; it is the only writer of its records.
//!
//! [`abide_engine::driver`] decides what an actor does; the simulation in the engine's tests runs the same
//! driver. Here are the mailboxes and the code that carries out the driver's orders on the store, the runner
//! and the alarm.

mod actor;
mod alarm;
mod alive;
mod hold;
mod mailbox;
mod recover;
mod sub_tasks;

pub use alarm::Alarm;
pub use alive::Alive;
pub use hold::Held;
pub use recover::FILES_AT_REST;

use crate::{
    events::Hub,
    runner::Runner,
    supervisor::{Ending, Supervisor},
};
use abide_engine::{
    Command, Refusal,
    driver::{self, Applied, Failure, Predecessor},
};
use abide_protocol::{
    ConversationId,
    method::daemon::CutOff,
    record::{CallAssessed, TaskStarted},
};
use abide_store::{AppendError, ReadError, Store};
use actor::Actor;
use mailbox::{Lane, Mailbox, Message};
use std::{
    collections::HashMap,
    future::Future,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::{Notify, oneshot, watch};
use tokio_util::sync::CancellationToken;

/// How long actors may take to leave after the cut-off.
const CUT_OFF_TIME: Duration = Duration::from_secs(3);

/// Why a command failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CommandError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("too many requests wait for this conversation; try again")]
    Overloaded,
    #[error(transparent)]
    Store(#[from] AppendError),
    #[error(transparent)]
    Write(#[from] abide_store::WriteError),
    #[error("the conversation's records cannot be read: {0}")]
    Load(Arc<ReadError>),
    /// It was not begun.
    #[error("the daemon is shutting down")]
    ShuttingDown,
    /// The same, but it may have been committed.
    #[error("the daemon is shutting down")]
    CutOff,
}

impl CommandError {
    /// Whether nothing of the command is on disk, or ever will be.
    #[must_use]
    pub const fn has_no_effect(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Overloaded | Self::Load(_) | Self::ShuttingDown => true,
            Self::Store(error) => !matches!(error, AppendError::Closed | AppendError::Failed { .. }),
            Self::Write(_) | Self::CutOff => false,
        }
    }
}

impl From<Failure<Self>> for CommandError {
    fn from(failure: Failure<Self>) -> Self {
        match failure {
            Failure::Refused(refusal) => Self::Refused(refusal),
            Failure::ShuttingDown => Self::CutOff,
            Failure::Failed(error) => error,
        }
    }
}

/// The daemon's types that pass through the driver.
#[derive(Debug)]
struct Daemon;

impl driver::Host for Daemon {
    type Reply = oneshot::Sender<Result<Applied, CommandError>>;
    type Deletion = oneshot::Sender<Result<u64, CommandError>>;
    type Error = CommandError;
}

type Event = driver::Event<Daemon>;
type Order = driver::Order<Daemon>;

/// All conversations in memory. Cheap to clone.
#[derive(Clone)]
pub struct Sessions {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    hub: Hub,
    runner: Runner,
    supervisor: Supervisor,
    alarm: Alarm,
    alive: Alive,
    predecessor: Predecessor,
    open: Mutex<HashMap<ConversationId, Mailbox>>,
    /// No new work begins; see [`Sessions::hold`].
    holding: AtomicBool,
    /// Notified when a held actor has come to rest.
    rested: Notify,
    /// Cancelled when the daemon begins to drain.
    draining: CancellationToken,
    /// Cancelled when running attempts are cut off.
    cutting: CancellationToken,
    /// The attempts that were cut off.
    cut: Mutex<Vec<CutOff>>,
    /// Notified when an actor has left.
    gone: Notify,
    ending: Arc<watch::Sender<Option<Ending>>>,
}

impl Sessions {
    #[must_use]
    pub fn new(
        runner: Runner,
        alarm: Alarm,
        alive: Alive,
        predecessor: Predecessor,
        ending: Arc<watch::Sender<Option<Ending>>>,
    ) -> Self {
        let inner = Inner {
            store: runner.store.clone(),
            hub: runner.hub.clone(),
            supervisor: runner.supervisor.clone(),
            runner,
            alarm,
            alive,
            predecessor,
            open: Mutex::default(),
            holding: AtomicBool::new(false),
            rested: Notify::new(),
            draining: CancellationToken::new(),
            cutting: CancellationToken::new(),
            cut: Mutex::default(),
            gone: Notify::new(),
            ending,
        };
        Self { inner: Arc::new(inner) }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<ConversationId, Mailbox>> {
        self.inner.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of conversations in memory.
    #[must_use]
    pub fn len(&self) -> usize {
        self.open().len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open().is_empty()
    }

    fn is_holding(&self) -> bool {
        self.inner.holding.load(Ordering::Acquire)
    }

    fn is_draining(&self) -> bool {
        self.inner.draining.is_cancelled()
    }

    /// Carries out a client's command.
    ///
    /// # Errors
    /// It was refused, the mailbox or the disk is full, or it could not be committed.
    pub async fn command(
        &self,
        conversation: ConversationId,
        command: Command,
    ) -> Result<Applied, CommandError> {
        if !command.is_admitted(self.is_draining()) {
            return Err(CommandError::ShuttingDown);
        }
        if !command.is_urgent() {
            self.check_room()?;
        }
        let (reply, applied) = oneshot::channel();
        let message = Message::Command { command, reply };
        self.deliver(conversation, message.lane(), message).await?;
        applied.await.map_err(|_| CommandError::CutOff)?
    }

    /// Refuses what would wait for room on a full disk, perhaps for longer than somebody wants it.
    ///
    /// # Errors
    /// [`AppendError::Full`]
    pub fn check_room(&self) -> Result<(), CommandError> {
        let lacks = self.inner.store.lacks_room();
        lacks.map_or(Ok(()), |room| Err(AppendError::Full(room).into()))
    }

    /// The setup of a new worktree, as a call of a task with this first record.
    pub(crate) async fn setup(&self, head: &TaskStarted) -> Option<CallAssessed> {
        self.inner.runner.setup(head).await
    }

    /// Stops all attempts and deletes the conversation's records for good. Returns their number.
    ///
    /// # Errors
    /// It could not be committed.
    pub async fn delete(&self, conversation: ConversationId) -> Result<u64, CommandError> {
        let (reply, deleted) = oneshot::channel();
        self.deliver(conversation, Lane::Urgent, Message::Delete { reply }).await?;
        deleted.await.map_err(|_| CommandError::CutOff)?
    }

    /// The alarm of a conversation has come.
    pub async fn wake(&self, conversation: ConversationId) {
        if !self.is_draining() {
            // Only commands can be refused.
            let _ = self.deliver(conversation, Lane::Urgent, Message::Wake).await;
        }
    }

    /// Lets these conversations read their records again, as far as they are in memory: words were taken out
    /// of them.
    pub fn reread(&self, conversations: &[ConversationId]) {
        for id in conversations {
            let Some(mailbox) = self.open().get(id).cloned() else { continue };
            // Its lane may be full, and whoever deletes does not wait for other conversations. An actor that has
            // left reads its records when it starts again.
            let reread = async move { drop(mailbox.put(Lane::Urgent, Message::Reread).await) };
            self.inner.supervisor.spawn("reading again", reread);
        }
    }

    /// Wakes the conversations in memory.
    async fn wake_open(&self) {
        let open: Vec<ConversationId> = self.open().keys().copied().collect();
        for conversation in open {
            self.wake(conversation).await;
        }
    }

    /// Gives a sign of life.
    pub async fn sign(&self) {
        let (alive, now) = (self.inner.alive.clone(), crate::clock::now());
        // It fails only if the runtime ends.
        let _ = tokio::task::spawn_blocking(move || alive.sign(now)).await;
    }

    /// Delivers a message to the conversation's actor, which is started if there is none.
    async fn deliver(
        &self,
        conversation: ConversationId,
        lane: Lane,
        mut message: Message,
    ) -> Result<(), CommandError> {
        loop {
            let mailbox = self.mailbox(conversation);
            match mailbox.put(lane, message).await {
                Ok(()) => return Ok(()),
                Err(mailbox::PutError::Full) => return Err(CommandError::Overloaded),
                // That actor has just left; the next attempt finds its successor.
                Err(mailbox::PutError::Closed(back)) => message = *back,
            }
        }
    }

    fn mailbox(&self, conversation: ConversationId) -> Mailbox {
        let mut open = self.open();
        // An actor removes its mailbox from the map before closing it; a closed one in the map belongs to an
        // actor that panicked.
        if let Some(mailbox) = open.get(&conversation).filter(|mailbox| !mailbox.is_closed()) {
            return mailbox.clone();
        }
        let (mailbox, mail) = mailbox::new();
        open.insert(conversation, mailbox.clone());
        drop(open);
        let actor = Actor::new(conversation, self.clone(), mailbox.clone(), mail);
        self.inner.supervisor.spawn("conversation", actor.run());
        self.inner.alarm.look();
        mailbox
    }

    /// The store has failed for good: only a restart tells what is on disk.
    fn store_failed(&self, reason: &str) {
        self.inner.ending.send_replace(Some(Ending::StoreFailed { reason: reason.to_owned() }));
    }

    /// Resolves when running attempts are cut off.
    async fn cutting(&self) {
        tokio::select! {
            () = self.inner.cutting.cancelled() => {}
            () = self.inner.supervisor.ending() => {}
        }
    }

    fn is_cutting(&self) -> bool {
        self.inner.cutting.is_cancelled() || self.inner.supervisor.is_ending()
    }

    /// Removes an actor that leaves, noting its attempts that were cut off. From here on messages start its
    /// successor; the actor passes on what is left in its mailbox.
    fn retire(&self, conversation: ConversationId, cut: Vec<CutOff>) {
        self.inner.cut.lock().unwrap_or_else(PoisonError::into_inner).extend(cut);
        self.open().remove(&conversation);
        self.inner.gone.notify_waiters();
    }

    /// Resolves when the next conversation leaves memory, from this call on.
    pub fn conversation_unloaded(&self) -> impl Future<Output = ()> {
        self.inner.gone.notified()
    }

    /// Starts nothing new and waits until running attempts have finished. Those that have not by the deadline
    /// are cut off, and the next start finds them interrupted. After that nothing is written.
    pub async fn drain(&self, deadline: Duration) {
        self.inner.draining.cancel();
        for mailbox in self.open().values() {
            mailbox.nudge();
        }
        if tokio::time::timeout(deadline, self.all_gone()).await.is_ok() {
            return;
        }
        self.inner.cutting.cancel();
        if tokio::time::timeout(CUT_OFF_TIME, self.all_gone()).await.is_err() {
            tracing::warn!(conversations = self.len(), "some conversations are still in memory");
        }
    }

    /// The attempts that [`Self::drain`] has cut off.
    #[must_use]
    pub fn cut_off(&self) -> Vec<CutOff> {
        self.inner.cut.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn all_gone(&self) {
        loop {
            let gone = self.inner.gone.notified();
            if self.is_empty() {
                return;
            }
            gone.await;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
