//! Turns commits into messages for the notifier.

use super::{
    QUEUE,
    item::{End, Item},
};
use abide_protocol::{
    ConversationId,
    inbox::{InboxItem, PendingId},
    record::{Record, RecordBody},
};
use abide_store::Committed;
use std::sync::Arc;
use tokio::sync::{Notify, mpsc};

/// What a commit means for a conversation's notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub conversation_id: ConversationId,
    /// The conversation's title.
    pub title: String,
    /// What was asked.
    pub asked: Vec<Item>,
    /// What was answered or decided, or is no longer asked.
    pub settled: Vec<PendingId>,
    /// The root task has ended.
    pub end: Option<End>,
    /// What was shown of the conversation before is over.
    pub over: Option<Over>,
}

/// Why what was shown is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// A new task has begun: the end of the one before is no news.
    Begun,
    /// The conversation is deleted or muted.
    Silent,
}

impl Change {
    /// An item that waits since before.
    #[must_use]
    pub fn waits(item: &InboxItem) -> Self {
        Self {
            conversation_id: item.conversation_id,
            title: item.conversation_title.clone(),
            asked: vec![Item::from(item)],
            settled: Vec::new(),
            end: None,
            over: None,
        }
    }

    /// `None`: the commit means nothing.
    #[must_use]
    pub fn of(committed: &Committed) -> Option<Self> {
        let update = committed.conversation.as_ref();
        let conversation = update.and_then(|update| update.conversation.as_ref());
        let inbox = committed.inbox.as_ref();
        let records = || committed.records.iter().map(AsRef::as_ref);
        let added = inbox.iter().flat_map(|inbox| &inbox.added);
        // Items are also added when they change; only a record asks.
        let asked = added.filter(|item| records().any(|record| asks(record) == Some(item.pending.id())));
        let end = records().find_map(|record| {
            let RecordBody::TaskEnded(ended) = &record.body else { return None };
            let task = committed.tasks.iter().find(|task| Some(task.id) == record.task_id)?;
            End::of(task, ended)
        });
        let begun = |record: &Record| matches!(&record.body, RecordBody::TaskStarted(head) if head.parent_id.is_none());
        let is_silent = update.is_some_and(|update| update.conversation.as_ref().is_none_or(|c| c.muted));
        let over = if is_silent { Some(Over::Silent) } else { records().any(begun).then_some(Over::Begun) };
        let titled = inbox.and_then(|inbox| inbox.added.first()).map(|item| &item.conversation_title);
        let title = conversation.map(|c| &c.title).or(titled).map_or("A conversation", String::as_str);
        let change = Self {
            conversation_id: committed.conversation_id,
            title: title.to_owned(),
            asked: asked.map(Item::from).collect(),
            settled: inbox.map(|inbox| inbox.removed.clone()).unwrap_or_default(),
            end,
            over,
        };
        let means_something = change.is_news() || !change.settled.is_empty() || change.over.is_some();
        means_something.then_some(change)
    }

    /// A person may want to know.
    #[must_use]
    pub const fn is_news(&self) -> bool {
        !self.asked.is_empty() || self.end.is_some()
    }
}

/// The item that a record opens.
fn asks(record: &Record) -> Option<PendingId> {
    match &record.body {
        RecordBody::QuestionAsked(question) => Some(PendingId::Question(question.id)),
        RecordBody::ApprovalRequested(approval) => Some(PendingId::Approval(approval.id)),
        _ => None,
    }
}

/// The notifier's end of a [`Feed`].
#[derive(Debug)]
pub struct News {
    pub(super) changes: mpsc::Receiver<Change>,
    /// A change was dropped.
    pub(super) missed: Arc<Notify>,
}

/// Sends changes to a notifier; never waits. A change for which there is no room is dropped, and the notifier
/// reads the inbox.
#[derive(Debug, Clone)]
pub struct Feed {
    changes: mpsc::Sender<Change>,
    missed: Arc<Notify>,
}

impl Feed {
    #[must_use]
    pub fn new() -> (Self, News) {
        let (changes, receiver) = mpsc::channel(QUEUE);
        let missed = Arc::new(Notify::new());
        (Self { changes, missed: Arc::clone(&missed) }, News { changes: receiver, missed })
    }

    /// Sends what a commit means, if anything.
    pub fn committed(&self, committed: &Committed) {
        let Some(change) = Change::of(committed) else { return };
        let conversation = change.conversation_id;
        if self.changes.try_send(change).is_err() {
            tracing::debug!(%conversation, "the notifier's queue is full; it reads the inbox");
            self.missed.notify_one();
        }
    }
}
