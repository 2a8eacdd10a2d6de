//! The snapshot that a subscription begins with.

use super::{
    Cursor,
    conversation::{conversation, conversations, with_unfinished_task},
    inbox::{Of, items},
    message, page_size, task,
};
use crate::{Store, error::ReadError, feed::Feed, high_water::newest};
use abide_protocol::{
    Seq,
    conversation::Conversation,
    method::subscription::Scope,
    notification::{DaemonUpdate, Snapshot},
};
use rusqlite::Connection;
use std::collections::HashSet;

/// The number of messages in a conversation's snapshot.
const MESSAGES: usize = 100;

impl Store {
    /// The feed of a scope. `None`: its task does not exist.
    pub async fn feed(&self, scope: Scope) -> Result<Option<Feed>, ReadError> {
        Ok(match scope {
            Scope::Overview => Some(Feed::Overview),
            Scope::All => Some(Feed::All),
            Scope::Conversation(id) => Some(Feed::Roots(id)),
            Scope::Tree(id) => Some(Feed::Tree(id)),
            Scope::Task(task) => self.conversation_of(task).await?.map(|id| Feed::Task(id, task)),
        })
    }

    /// The snapshot of a feed, read in one transaction. Fields that only the daemon knows (`partials`,
    /// `daemon`) are left empty, as are the messages if the client has them up to `since`. A conversation
    /// that does not exist gives an empty snapshot.
    pub async fn snapshot(&self, feed: Feed, since: Option<Seq>) -> Result<Snapshot, ReadError> {
        self.read(move |connection| {
            let mut snapshot = Snapshot {
                seq: newest(connection)?,
                conversations: Vec::new(),
                tasks: Vec::new(),
                inbox: Vec::new(),
                messages: Vec::new(),
                calls: Vec::new(),
                events: Vec::new(),
                partials: Vec::new(),
                daemon: DaemonUpdate::default(),
            };
            let Some(id) = feed.conversation() else {
                if feed == Feed::Overview {
                    snapshot.conversations = listed(connection)?;
                    snapshot.tasks = task::unfinished(connection)?;
                } else {
                    snapshot.tasks = task::unfinished_with_sub_tasks(connection)?;
                }
                snapshot.inbox = items(connection, Of::All)?;
                return Ok(snapshot);
            };
            snapshot.conversations = conversation(connection, id)?.into_iter().collect();
            snapshot.tasks = task::current(connection, id)?;
            snapshot.inbox = items(connection, Of::Conversation(id))?;
            if since.is_none() {
                let page = message::page(connection, feed, (None, None), MESSAGES)?;
                snapshot.messages = page.messages;
                snapshot.calls = page.calls;
                snapshot.events = page.events;
            }
            Ok(snapshot)
        })
        .await
    }
}

/// The conversations of the overview: the newest that are not archived, and all whose task works or waits.
fn listed(connection: &Connection) -> rusqlite::Result<Vec<Conversation>> {
    let (mut listed, _) = conversations(connection, false, Cursor::NEWEST, page_size(u32::MAX))?;
    let known: HashSet<_> = listed.iter().map(|conversation| conversation.id).collect();
    let unfinished = with_unfinished_task(connection)?;
    listed.extend(unfinished.into_iter().filter(|conversation| !known.contains(&conversation.id)));
    Ok(listed)
}
