//! Waiters for work on files: for the end of an undo, and for the next end of such work in a conversation.
//! Each is woken when the record of it is committed.

use abide_protocol::{ConversationId, RecordId, checkpoint::UndoResult, record::RecordBody};
use abide_store::Committed;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{oneshot, watch};

/// All who wait. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Undos {
    waiting: Arc<Mutex<BTreeMap<RecordId, oneshot::Sender<UndoResult>>>>,
    /// The conversation of the newest record of work on files.
    worked: watch::Sender<Option<ConversationId>>,
}

impl Default for Undos {
    fn default() -> Self {
        Self { waiting: Arc::default(), worked: watch::channel(None).0 }
    }
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

    /// Changes with each record of work on files, of whatever conversation.
    pub(super) fn worked(&self) -> watch::Receiver<Option<ConversationId>> {
        self.worked.subscribe()
    }

    pub(super) fn publish(&self, committed: &Committed) {
        for record in &committed.records {
            match &record.body {
                RecordBody::UndoEnded(ended) => {
                    if let Some(sender) = self.lock().remove(&ended.undo) {
                        // Sending fails only if it no longer waits.
                        let _ = sender.send(ended.result.clone());
                    }
                    self.worked.send_replace(Some(record.conversation_id));
                }
                RecordBody::Checkpointed(_) => {
                    self.worked.send_replace(Some(record.conversation_id));
                }
                _ => {}
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
