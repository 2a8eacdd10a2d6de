//! The snapshot that a subscription begins with.

use super::{
    Cursor,
    conversation::{conversation, conversations},
    inbox::{Of, items},
    message, page_size, task,
};
use crate::{Store, error::ReadError, high_water::newest};
use abide_protocol::{
    Seq,
    method::subscription::Scope,
    notification::{DaemonUpdate, Snapshot},
};

/// The number of messages in a conversation's snapshot.
const MESSAGES: usize = 100;

impl Store {
    /// The snapshot of a scope, read in one transaction. Left empty are what only the daemon knows (`partials`, `daemon`), and the
    /// messages if the client has them up to `since`. A conversation that does not exist gives an empty snapshot.
    pub async fn snapshot(&self, scope: Scope, since: Option<Seq>) -> Result<Snapshot, ReadError> {
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
            match scope {
                Scope::Overview | Scope::All => {
                    if scope == Scope::Overview {
                        let limit = page_size(u32::MAX);
                        snapshot.conversations = conversations(connection, false, Cursor::NEWEST, limit)?.0;
                    }
                    snapshot.tasks = task::unfinished(connection)?;
                    snapshot.inbox = items(connection, Of::All)?;
                }
                Scope::Conversation(id) => {
                    snapshot.conversations = conversation(connection, id)?.into_iter().collect();
                    snapshot.tasks = task::current(connection, id)?;
                    snapshot.inbox = items(connection, Of::Conversation(id))?;
                    if since.is_none() {
                        let page = message::page(connection, id, (None, None), MESSAGES)?;
                        snapshot.messages = page.messages;
                        snapshot.calls = page.calls;
                        snapshot.events = page.events;
                    }
                }
            }
            Ok(snapshot)
        })
        .await
    }
}
