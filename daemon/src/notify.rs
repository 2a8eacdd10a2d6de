//! Desktop notifications: what a person should hear of when no window shows it. Sent by the daemon, since it is there when no
//! client is. Nothing ever depends on one: what is asked waits in the inbox.

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

/// How many notices may wait. One too many is dropped by the sender: it is in the inbox anyway.
pub const QUEUE: usize = 64;
/// How long the notification server may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long it is left alone after it failed.
const PAUSE: Duration = Duration::from_secs(60);
/// Things that are remembered as told.
const REMEMBERED: usize = 4096;
/// Open questions and approvals whose notification can still be taken back.
const OPEN: usize = 64;

/// What the notifier is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    Notice(Box<Notice>),
    /// It was answered, or its task has ended: its notification goes.
    Settled(Key),
}

/// Whether a person is told: once, and not of what they are looking at.
#[must_use]
pub fn should_notify(notice: &Notice, focused: &HashSet<ConversationId>, already: &Remembered) -> bool {
    !focused.contains(&notice.conversation_id) && !already.contains(notice.key)
}

/// The last things that were told.
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
    /// What clients say they are looking at.
    focused: watch::Receiver<HashSet<ConversationId>>,
    already: Remembered,
    open: HashMap<Key, D::Shown>,
    order: VecDeque<Key>,
    /// Set while the server is left alone.
    until: Option<Instant>,
}

impl<D: Desktop> Notifier<D> {
    #[must_use]
    pub fn new(desktop: D, focused: watch::Receiver<HashSet<ConversationId>>) -> Self {
        Self {
            desktop,
            focused,
            already: Remembered::default(),
            open: HashMap::new(),
            order: VecDeque::new(),
            until: None,
        }
    }

    /// Runs until nobody can tell it anything any more. Shows what comes while notifications are `enabled`.
    pub async fn run<E>(mut self, mut told: mpsc::Receiver<Told>, enabled: impl Fn() -> E)
    where
        E: Future<Output = bool>,
    {
        while let Some(told) = told.recv().await {
            match told {
                Told::Notice(notice) => {
                    if enabled().await {
                        self.notice(&notice).await;
                    }
                }
                Told::Settled(key) => self.settled(key).await,
            }
        }
    }

    async fn notice(&mut self, notice: &Notice) {
        if !should_notify(notice, &self.focused.borrow(), &self.already) {
            return;
        }
        // Also if it cannot be shown: minutes later it would only be late.
        self.already.insert(notice.key);
        if self.until.is_some_and(|until| Instant::now() < until) {
            return;
        }
        let shown = tokio::time::timeout(PATIENCE, self.desktop.show(notice)).await;
        match shown.unwrap_or_else(|_| Err("it does not answer".to_owned())) {
            Ok(shown) => {
                self.until = None;
                if notice.what.is_open() {
                    self.keep(notice.key, shown);
                }
            }
            Err(why) => {
                tracing::debug!(why, "no desktop notification was shown");
                self.until = Some(Instant::now() + PAUSE);
            }
        }
    }

    fn keep(&mut self, key: Key, shown: D::Shown) {
        self.open.insert(key, shown);
        self.order.push_back(key);
        if self.order.len() > OPEN
            && let Some(oldest) = self.order.pop_front()
        {
            // It stays on the screen, and that is all.
            self.open.remove(&oldest);
        }
    }

    async fn settled(&mut self, key: Key) {
        // What is settled before it was told is not told.
        self.already.insert(key);
        self.order.retain(|k| *k != key);
        if let Some(shown) = self.open.remove(&key) {
            let _ = tokio::time::timeout(PATIENCE, shown.close()).await;
        }
    }
}

#[cfg(test)]
mod tests;
