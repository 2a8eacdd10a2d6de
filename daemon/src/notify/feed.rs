//! From what is committed to what is told.

use super::{Key, QUEUE, Told, notice};
use abide_protocol::ConversationId;
use abide_store::Committed;
use tokio::sync::mpsc;

/// Feeds a notifier; never waits.
#[derive(Debug, Clone)]
pub struct Feed {
    told: mpsc::Sender<Told>,
}

impl Feed {
    #[must_use]
    pub fn new() -> (Self, mpsc::Receiver<Told>) {
        let (told, receiver) = mpsc::channel(QUEUE);
        (Self { told }, receiver)
    }

    /// Tells what came up in a commit, and what needs nobody any more.
    pub fn committed(&self, committed: &Committed) {
        let conversation = committed.conversation.as_ref().and_then(|update| update.conversation.as_ref());
        let title = conversation.map_or("A conversation", |c| c.title.as_str());
        for record in &committed.records {
            let task = committed.tasks.iter().find(|task| Some(task.id) == record.task_id);
            if let Some(notice) = task.and_then(|task| notice(title, record, task)) {
                self.tell(committed.conversation_id, Told::Notice(Box::new(notice)));
            }
        }
        for id in committed.inbox.iter().flat_map(|update| &update.removed) {
            self.tell(committed.conversation_id, Told::Settled(Key::Pending(*id)));
        }
    }

    fn tell(&self, conversation: ConversationId, told: Told) {
        if self.told.try_send(told).is_err() {
            tracing::debug!(%conversation, "more happens than the desktop can be told");
        }
    }
}
