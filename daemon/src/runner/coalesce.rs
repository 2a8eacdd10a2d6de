//! Merges live output, and publishes it about every 30 ms in one piece for each kind.

use super::Gate;
use crate::events::{Delta, Hub};
use abide_protocol::{
    ConversationId, TaskId,
    notification::{DeltaItem, DeltaKind},
};
use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::Notify;

const INTERVAL: Duration = Duration::from_millis(30);
/// Above this size output is published at once: a command may print hundreds of MiB in a second.
const MAX_PENDING: usize = 64 * 1024;

/// The live output of one item. Cheap to clone.
#[derive(Clone)]
pub(super) struct Coalescer {
    hub: Hub,
    template: Arc<Delta>,
    pending: Arc<Mutex<Vec<(DeltaKind, String)>>>,
    filled: Arc<Notify>,
    /// The gate is open, so output may be published.
    open: Arc<AtomicBool>,
}

impl Coalescer {
    pub(super) fn new(
        hub: Hub,
        conversation: ConversationId,
        task: TaskId,
        item: DeltaItem,
        attempt: u32,
    ) -> Self {
        let template =
            Delta { conversation, task, item, attempt, kind: DeltaKind::Text, text: String::new() };
        Self {
            hub,
            template: Arc::new(template),
            pending: Arc::default(),
            filled: Arc::default(),
            open: Arc::default(),
        }
    }

    pub(super) fn push(&self, kind: DeltaKind, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        match pending.iter_mut().find(|(k, _)| *k == kind) {
            Some((_, waiting)) => waiting.push_str(text),
            None => pending.push((kind, text.to_owned())),
        }
        let waiting: usize = pending.iter().map(|(_, text)| text.len()).sum();
        drop(pending);
        if waiting > MAX_PENDING && self.open.load(Ordering::Acquire) {
            self.flush();
        }
        self.filled.notify_one();
    }

    /// Runs `work` and publishes its output, once the gate is open.
    ///
    /// `None`: the gate was dropped unopened.
    pub(super) async fn drive<T>(&self, mut gate: Gate, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        let early = tokio::select! {
            open = gate.wait_for(|open| *open) => match open {
                Ok(_) => None,
                Err(_) => return None,
            },
            done = &mut work => Some(done),
        };
        if let Some(done) = early {
            gate.wait_for(|open| *open).await.ok()?;
            self.flush();
            return Some(done);
        }
        self.open.store(true, Ordering::Release);
        let flushes = async {
            loop {
                self.filled.notified().await;
                tokio::time::sleep(INTERVAL).await;
                self.flush();
            }
        };
        let done = tokio::select! {
            done = &mut work => done,
            () = flushes => return None,
        };
        self.flush();
        Some(done)
    }

    fn flush(&self) {
        let pending = std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        for (kind, text) in pending {
            self.hub.delta(&Delta { kind, text, ..(*self.template).clone() });
        }
    }
}
