use super::reader::Notifications;
use abide_protocol::{Error, codec::ReplyBody, notification::Notification};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{mpsc, oneshot};

/// Notifications that wait for their reader; when it is full, the connection waits.
const INBOX: usize = 256;

/// Why a connection is over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Disconnect {
    #[error("the daemon closed the connection")]
    Closed,
    #[error("the connection broke: {0}")]
    Io(String),
    #[error("the daemon sent what cannot be read: {0}")]
    Garbled(String),
}

pub(super) type Answer = Result<ReplyBody, Error>;

/// What the callers and the two tasks of a connection share.
#[derive(Default)]
pub(super) struct Shared {
    state: Mutex<ConnectionState>,
    listener: Mutex<Option<mpsc::Sender<Notification>>>,
}

enum ConnectionState {
    Open { waiting: HashMap<u64, oneshot::Sender<Answer>> },
    Closed(Disconnect),
}

impl Default for ConnectionState {
    fn default() -> Self {
        Self::Open { waiting: HashMap::new() }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn disconnected(&self) -> Option<Disconnect> {
        match &*self.state() {
            ConnectionState::Open { .. } => None,
            ConnectionState::Closed(reason) => Some(reason.clone()),
        }
    }

    /// Registers a request's id: its reply is awaited.
    pub(super) fn expect(&self, id: u64) -> Result<oneshot::Receiver<Answer>, Disconnect> {
        match &mut *self.state() {
            ConnectionState::Closed(reason) => Err(reason.clone()),
            ConnectionState::Open { waiting } => {
                let (sender, receiver) = oneshot::channel();
                waiting.insert(id, sender);
                Ok(receiver)
            }
        }
    }

    /// How many replies are awaited.
    #[cfg(test)]
    pub(super) fn awaited(&self) -> usize {
        match &*self.state() {
            ConnectionState::Open { waiting } => waiting.len(),
            ConnectionState::Closed(_) => 0,
        }
    }

    /// The reply to this id is no longer awaited.
    pub(super) fn forget(&self, id: u64) {
        if let ConnectionState::Open { waiting } = &mut *self.state() {
            waiting.remove(&id);
        }
    }

    pub(super) fn answer(&self, id: u64, answer: Answer) {
        if let ConnectionState::Open { waiting } = &mut *self.state()
            && let Some(sender) = waiting.remove(&id)
        {
            // The caller may have stopped waiting.
            drop(sender.send(answer));
        }
    }

    /// The first reason is kept. All callers that wait get it: their channels end.
    pub(super) fn close(&self, reason: &Disconnect) {
        {
            let mut state = self.state();
            if matches!(*state, ConnectionState::Open { .. }) {
                *state = ConnectionState::Closed(reason.clone());
            }
        }
        *self.listener() = None;
    }

    fn listener(&self) -> MutexGuard<'_, Option<mpsc::Sender<Notification>>> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn listen(&self) -> Notifications {
        let (sender, receiver) = mpsc::channel(INBOX);
        let mut listener = self.listener();
        // On a closed connection the sender is dropped at once, so the stream ends.
        *listener = self.disconnected().is_none().then_some(sender);
        Notifications::new(receiver)
    }

    pub(super) fn current_listener(&self) -> Option<mpsc::Sender<Notification>> {
        self.listener().clone()
    }
}
