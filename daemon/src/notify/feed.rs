//! Turns commits into messages for the notifier.

use super::{Key, NotifierEvent, QUEUE, notice};
use abide_protocol::ConversationId;
use abide_store::Committed;
use tokio::sync::mpsc;

/// Sends messages to a notifier; never waits.
#[derive(Debug, Clone)]
pub struct Feed {
    told: mpsc::Sender<NotifierEvent>,
}

impl Feed {
    #[must_use]
    pub fn new() -> (Self, mpsc::Receiver<NotifierEvent>) {
        let (told, receiver) = mpsc::channel(QUEUE);
        (Self { told }, receiver)
    }

    /// Sends a notice for each record that needs one, and closes those of settled items.
    pub fn committed(&self, committed: &Committed) {
        let conversation = committed.conversation.as_ref().and_then(|update| update.conversation.as_ref());
        let title = conversation.map_or("A conversation", |c| c.title.as_str());
        for record in &committed.records {
            let task = committed.tasks.iter().find(|task| Some(task.id) == record.task_id);
            if let Some(notice) = task.and_then(|task| notice(title, record, task)) {
                self.tell(committed.conversation_id, NotifierEvent::Notice(Box::new(notice)));
            }
        }
        for id in committed.inbox.iter().flat_map(|update| &update.removed) {
            self.tell(committed.conversation_id, NotifierEvent::Settled(Key::Pending(*id)));
        }
    }

    fn tell(&self, conversation: ConversationId, told: NotifierEvent) {
        if self.told.try_send(told).is_err() {
            tracing::debug!(%conversation, "the notifier's queue is full; a notice was dropped");
        }
    }
}
