//! A subscription begins: register first, then read the live output, then the store; so nothing is missed and nothing comes twice.

use super::{Service, handlers, request_error::RequestError};
use crate::events::{Outbox, Subscriber};
use abide_protocol::{
    Error, ErrorKind, Seq, SubscriptionId,
    limits::MAX_SUBSCRIPTIONS,
    method::subscription::{Scope, SubscribeParams},
    notification::Snapshot,
};
use abide_store::{ReadError, Store};
use std::{collections::HashMap, future, sync::Arc};
use tokio_util::sync::CancellationToken;

/// Records that are read from the store at a time.
const PAGE: u32 = 256;

/// The subscriptions of a line, and how to end each.
#[derive(Default)]
pub(super) struct Subscriptions {
    open: HashMap<SubscriptionId, CancellationToken>,
    /// The last id that was given. None is given twice: what still waits to be written may be of one that has ended.
    last: u64,
}

impl Subscriptions {
    /// A new one, which also ends with the line: its id, and the token that ends it.
    pub(super) fn begin(
        &mut self,
        closing: &CancellationToken,
    ) -> Result<(SubscriptionId, CancellationToken), Error> {
        if self.open.len() >= MAX_SUBSCRIPTIONS {
            let words = format!("this connection has {MAX_SUBSCRIPTIONS} subscriptions; end one first");
            return Err(Error::new(ErrorKind::Overloaded, words));
        }
        self.last += 1;
        let (id, ended) = (SubscriptionId(self.last), closing.child_token());
        self.open.insert(id, ended.clone());
        Ok((id, ended))
    }

    /// `false`: there is none of that id.
    pub(super) fn end(&mut self, id: SubscriptionId) -> bool {
        self.open.remove(&id).map(|ended| ended.cancel()).is_some()
    }
}

/// One that is registered with the hub. Nothing comes out of it before [`Self::follow`].
pub(super) struct Subscription {
    id: SubscriptionId,
    scope: Scope,
    subscriber: Subscriber,
    /// The newest record that the caller knows.
    cursor: Seq,
    /// The store may have records after the cursor.
    is_behind: bool,
    ended: CancellationToken,
}

impl Subscription {
    /// Registers it, and reads how things stand.
    pub(super) async fn open(
        service: &Service,
        outbox: &Outbox,
        id: SubscriptionId,
        ended: CancellationToken,
        SubscribeParams { scope, since }: SubscribeParams,
    ) -> Result<(Self, Snapshot), RequestError> {
        let Service { hub, store, .. } = service;
        let (subscriber, partials) = hub.join(id, scope, outbox.clone());
        if let Scope::Conversation(conversation) = scope {
            handlers::existing(store, conversation).await?;
        }
        let mut snapshot = store.snapshot(scope, since).await?;
        // A client that knows more than there is has seen another database, or made a mistake: what it would get has a gap.
        if let Some(since) = since.filter(|since| *since > snapshot.seq) {
            let Seq(newest) = snapshot.seq;
            let words = format!("there is no record {}: the newest is {newest}", since.0);
            return Err(Error::new(ErrorKind::InvalidParams, words).about(newest).into());
        }
        // What has been recorded between the two reads is in the snapshot, or follows.
        snapshot.partials = hub.still_live(partials);
        snapshot.daemon = hub.daemon_state();
        let cursor = since.unwrap_or(snapshot.seq);
        Ok((Self { id, scope, subscriber, cursor, is_behind: since.is_some(), ended }, snapshot))
    }

    /// Lets every record after the cursor follow, until the subscription is ended.
    pub(super) async fn follow(mut self, store: Store, outbox: Outbox) {
        let ended = self.ended.clone();
        let following = async {
            if let Err(e) = self.catch_up(&store, &outbox).await {
                // The reply is out; all that is left is to end the connection, which the client knows how to resume.
                tracing::error!("a subscription could not be brought up to date: {e}");
                outbox.close();
            }
            // The subscriber, which the hub feeds from here on, lives as long as this does.
            future::pending::<()>().await;
        };
        ended.run_until_cancelled(following).await;
    }

    /// Sends what the store has after the cursor, at the reader's pace, until the live stream takes over.
    async fn catch_up(&mut self, store: &Store, outbox: &Outbox) -> Result<(), ReadError> {
        let conversation = match self.scope {
            // Latest-wins only: there is nothing to catch up with.
            Scope::Overview => {
                self.is_behind = false;
                None
            }
            Scope::All => None,
            Scope::Conversation(id) => Some(id),
        };
        loop {
            while self.is_behind {
                let page = store.records_after(conversation, self.cursor, PAGE).await?;
                self.is_behind = page.len() == PAGE as usize;
                for record in page {
                    self.cursor = record.seq;
                    outbox.has_room().await;
                    outbox.record(self.id, Arc::new(record));
                }
            }
            if self.subscriber.joined(self.cursor) {
                return Ok(());
            }
            self.is_behind = true;
        }
    }
}
