//! A client that records every sequenced notification as received, over all lives of the daemon.
//!
//! It does not use [`abide_client::Live`], which would drop a repeated one.

use crate::{ledger, wait};
use abide_client::{
    Client, Options,
    protocol::{
        RecordId, Seq,
        method::{
            self,
            subscription::{Scope, SubscribeParams},
        },
        notification::Notification,
    },
};
use abide_host::Home;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::JoinSet;

/// What one client received. It runs until it is dropped.
pub struct Tap {
    seen: Arc<Mutex<Vec<(Seq, RecordId)>>>,
    /// How many of them were found on disk.
    found: usize,
    _task: JoinSet<()>,
}

impl Tap {
    /// Records everything of all conversations, from the beginning.
    #[must_use]
    pub fn open(home: Home) -> Self {
        let seen = Arc::default();
        let mut task = JoinSet::new();
        task.spawn(follow(home, Arc::clone(&seen)));
        Self { seen, found: 0, _task: task }
    }

    /// How many records it has received.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The seq of the last one.
    #[must_use]
    pub fn cursor(&self) -> Seq {
        self.lock().last().map_or(Seq(0), |(seq, _)| *seq)
    }

    /// Compares the records received since the last call with the database at `path`: nothing is missing,
    /// nothing comes twice, all in order. Returns how many there were.
    ///
    /// # Panics
    /// They differ.
    pub fn assert_matches(&mut self, path: &std::path::Path) -> usize {
        let seen = self.lock()[self.found..].to_vec();
        let Some((last, _)) = seen.last() else { return 0 };
        let before = if self.found == 0 { Seq(0) } else { self.lock()[self.found - 1].0 };
        let on_disk: Vec<_> =
            ledger::between(path, before, *last).into_iter().map(|line| (line.seq, line.id)).collect();
        if seen != on_disk {
            let parts =
                seen.iter().zip(&on_disk).position(|(a, b)| a != b).unwrap_or(seen.len().min(on_disk.len()));
            panic!(
                "what was shown is not what is on disk: after {before:?} {} were shown and {} are there; they part at number {parts}: \
                 shown {:?}, on disk {:?}",
                seen.len(),
                on_disk.len(),
                seen.get(parts),
                on_disk.get(parts)
            );
        }
        self.found += seen.len();
        seen.len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Seq, RecordId)>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn follow(home: Home, seen: Arc<Mutex<Vec<(Seq, RecordId)>>>) {
    loop {
        let client = connected(&home).await;
        let mut told = client.notifications();
        let since =
            seen.lock().unwrap_or_else(PoisonError::into_inner).last().map_or(Seq(0), |(seq, _)| *seq);
        let params = SubscribeParams { scope: Scope::All, since: Some(since) };
        if client.call::<method::Subscribe>(params).await.is_err() {
            continue;
        }
        while let Some(notification) = told.next().await {
            let fact = match notification {
                Notification::TaskMessage(m) => (m.seq, m.message.id),
                Notification::TaskEvent(e) => (e.seq, e.record.id),
                _ => continue,
            };
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(fact);
        }
    }
}

/// Connects to the daemon of this home as soon as it answers.
pub async fn connected(home: &Home) -> Client {
    let usual = Options::new("abide-tests", env!("CARGO_PKG_VERSION"));
    let options = Options { connect_timeout: wait::limit(), call_timeout: wait::limit(), ..usual };
    wait::within("the daemon to answer", async {
        loop {
            match Client::connect(home, options.clone()).await {
                Ok(client) => return client,
                Err(_) => wait::look_again().await,
            }
        }
    })
    .await
}
