//! Desktop notifications of what no window shows. The daemon sends them, because it runs when no client does. Nothing depends on them:
//! questions and approvals wait in the inbox.

mod desktop;
mod feed;
mod notice;
mod words;

pub use desktop::{Desktop, Shown, SystemDesktop};
pub use feed::Feed;
pub use notice::{Key, Notice, What, notice};

use abide_protocol::ConversationId;
use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

/// The most waiting notices. Further ones are dropped; they are in the inbox anyway.
pub const QUEUE: usize = 64;
/// How long the notification server may take.
const SERVER_TIME: Duration = Duration::from_secs(5);
/// How long the server is not tried after a failure.
const RETRY_AFTER: Duration = Duration::from_secs(60);
/// The number of notified keys that are remembered.
const REMEMBERED: usize = 4096;
/// The most open notifications that can still be closed.
const OPEN: usize = 64;

/// A message to the notifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotifierEvent {
    Notice(Box<Notice>),
    /// It was answered, or its task has ended: its notification is closed.
    Settled(Key),
}

/// A notice is shown once, and not while a client shows its conversation.
#[must_use]
pub fn should_notify(notice: &Notice, focused: &HashSet<ConversationId>, notified: &Remembered) -> bool {
    !focused.contains(&notice.conversation_id) && !notified.contains(notice.key)
}

/// The keys of the last notices.
#[derive(Debug, Default)]
pub struct Remembered {
    keys: HashSet<Key>,
    order: VecDeque<Key>,
}

impl Remembered {
    #[must_use]
    pub fn contains(&self, key: Key) -> bool {
        self.keys.contains(&key)
    }

    pub fn insert(&mut self, key: Key) {
        if self.keys.insert(key) {
            self.order.push_back(key);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.keys.remove(&oldest);
        }
    }
}

/// Shows notices, one at a time.
pub struct Notifier<D: Desktop> {
    desktop: D,
    /// The conversations that clients show.
    focused: watch::Receiver<HashSet<ConversationId>>,
    notified: Remembered,
    open: HashMap<Key, D::Shown>,
    order: VecDeque<Key>,
    /// The server is not tried before this time.
    paused_until: Option<Instant>,
}

impl<D: Desktop> Notifier<D> {
    #[must_use]
    pub fn new(desktop: D, focused: watch::Receiver<HashSet<ConversationId>>) -> Self {
        Self {
            desktop,
            focused,
            notified: Remembered::default(),
            open: HashMap::new(),
            order: VecDeque::new(),
            paused_until: None,
        }
    }

    /// Runs until all senders are dropped. Shows notices while `enabled` returns true.
    pub async fn run<E>(mut self, mut told: mpsc::Receiver<NotifierEvent>, enabled: impl Fn() -> E)
    where
        E: Future<Output = bool>,
    {
        while let Some(told) = told.recv().await {
            match told {
                NotifierEvent::Notice(notice) => {
                    if enabled().await {
                        self.notice(&notice).await;
                    }
                }
                NotifierEvent::Settled(key) => self.settled(key).await,
            }
        }
    }

    async fn notice(&mut self, notice: &Notice) {
        if !should_notify(notice, &self.focused.borrow(), &self.notified) {
            return;
        }
        // Even if it cannot be shown now: it would be too late in a minute.
        self.notified.insert(notice.key);
        if self.paused_until.is_some_and(|paused_until| Instant::now() < paused_until) {
            return;
        }
        let shown = tokio::time::timeout(SERVER_TIME, self.desktop.show(notice)).await;
        match shown.unwrap_or_else(|_| Err("it does not answer".to_owned())) {
            Ok(shown) => {
                self.paused_until = None;
                if notice.what.is_open() {
                    self.keep(notice.key, shown);
                }
            }
            Err(why) => {
                tracing::debug!(why, "no desktop notification was shown");
                self.paused_until = Some(Instant::now() + RETRY_AFTER);
            }
        }
    }

    fn keep(&mut self, key: Key, shown: D::Shown) {
        self.open.insert(key, shown);
        self.order.push_back(key);
        if self.order.len() > OPEN
            && let Some(oldest) = self.order.pop_front()
        {
            // It stays on the screen, and can no longer be closed.
            self.open.remove(&oldest);
        }
    }

    async fn settled(&mut self, key: Key) {
        // A notice that comes after it was settled is not shown.
        self.notified.insert(key);
        self.order.retain(|k| *k != key);
        if let Some(shown) = self.open.remove(&key) {
            let _ = tokio::time::timeout(SERVER_TIME, shown.close()).await;
        }
    }
}

#[cfg(test)]
mod tests;
