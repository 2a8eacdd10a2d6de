//! Waiters for the ends of undos: each is woken when its undo's end is committed.

use abide_protocol::{RecordId, checkpoint::UndoResult, record::RecordBody};
use abide_store::Committed;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::oneshot;

/// All who wait; an undo has at most one. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Undos {
    waiting: Arc<Mutex<BTreeMap<RecordId, oneshot::Sender<UndoResult>>>>,
}

impl Undos {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<RecordId, oneshot::Sender<UndoResult>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn of(&self, undo: RecordId) -> UndoEnd {
        let (sender, ended) = oneshot::channel();
        self.lock().insert(undo, sender);
        UndoEnd { undos: self.clone(), undo, ended }
    }

    pub(super) fn publish(&self, committed: &Committed) {
        for record in &committed.records {
            if let RecordBody::UndoEnded(ended) = &record.body
                && let Some(sender) = self.lock().remove(&ended.undo)
            {
                // Sending fails only if it no longer waits.
                let _ = sender.send(ended.result.clone());
            }
        }
    }
}

/// The end of an undo that has not begun yet; given up when dropped.
#[derive(Debug)]
pub struct UndoEnd {
    undos: Undos,
    undo: RecordId,
    ended: oneshot::Receiver<UndoResult>,
}

impl UndoEnd {
    /// What the undo has come to.
    ///
    /// # Errors
    /// The daemon ends before it.
    pub async fn come(mut self) -> Result<UndoResult, oneshot::error::RecvError> {
        (&mut self.ended).await
    }
}

impl Drop for UndoEnd {
    fn drop(&mut self) {
        self.undos.lock().remove(&self.undo);
    }
}
