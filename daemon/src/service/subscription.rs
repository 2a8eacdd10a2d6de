//! Subscriptions: register with the hub, then read live output, then the store, so that nothing is missed or
//! repeated.

use super::{Service, handlers, request_error::RequestError};
use crate::events::{Outbox, Subscriber};
use abide_protocol::{
    Error, ErrorKind, Seq, SubscriptionId,
    limits::MAX_SUBSCRIPTIONS,
    method::subscription::{Scope, SubscribeParams},
    notification::Snapshot,
};
use abide_store::{Feed, ReadError, Store};
use std::{collections::HashMap, future, sync::Arc};
use tokio_util::sync::CancellationToken;

/// The number of records read from the store at a time.
const PAGE: u32 = 256;

/// A line's subscriptions, with the token that ends each.
#[derive(Default)]
pub(super) struct Subscriptions {
    open: HashMap<SubscriptionId, CancellationToken>,
    /// The last id given. Ids are not reused: queued notifications may still carry an ended one's.
    last: u64,
}

impl Subscriptions {
    /// A new subscription, which also ends with the line: its id and the token that ends it.
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

    /// `false`: there is no subscription with this id.
    pub(super) fn end(&mut self, id: SubscriptionId) -> bool {
        self.open.remove(&id).map(|ended| ended.cancel()).is_some()
    }
}

/// A subscription registered with the hub. It sends nothing before [`Self::follow`].
pub(super) struct Subscription {
    id: SubscriptionId,
    feed: Feed,
    subscriber: Subscriber,
    /// The newest record that the client has.
    cursor: Seq,
    /// The store may have records after the cursor.
    is_behind: bool,
    ended: CancellationToken,
}

impl Subscription {
    /// Registers the subscription and reads the snapshot.
    pub(super) async fn open(
        service: &Service,
        outbox: &Outbox,
        id: SubscriptionId,
        ended: CancellationToken,
        SubscribeParams { scope, since }: SubscribeParams,
    ) -> Result<(Self, Snapshot), RequestError> {
        let Service { hub, store, .. } = service;
        // A task stays in its conversation, so it can be looked up before the registration.
        let feed = store.feed(scope).await?.ok_or_else(|| no_task(scope))?;
        let (subscriber, partials) = hub.join(id, feed, outbox.clone());
        if let Some(conversation) = feed.conversation() {
            handlers::existing(store, conversation).await?;
        }
        let mut snapshot = store.snapshot(feed, since).await?;
        // A client that has more records than the database has seen another one, or has a defect; its view
        // would have a gap.
        if let Some(since) = since.filter(|since| *since > snapshot.seq) {
            let Seq(newest) = snapshot.seq;
            let words = format!("there is no record {}: the newest is {newest}", since.0);
            return Err(Error::new(ErrorKind::InvalidParams, words).about(newest).into());
        }
        // Records committed between the two reads are in the snapshot or are sent later.
        snapshot.partials = hub.still_live(partials);
        snapshot.daemon = hub.daemon_state();
        let cursor = since.unwrap_or(snapshot.seq);
        Ok((Self { id, feed, subscriber, cursor, is_behind: since.is_some(), ended }, snapshot))
    }

    /// Sends every record after the cursor, until the subscription ends.
    pub(super) async fn follow(mut self, store: Store, outbox: Outbox) {
        let ended = self.ended.clone();
        let following = async {
            if let Err(e) = self.catch_up(&store, &outbox).await {
                // The reply is sent already, so the connection is ended; the client resumes it.
                tracing::error!("a subscription could not catch up: {e}");
                outbox.close();
            }
            // The hub feeds the subscriber as long as it lives.
            future::pending::<()>().await;
        };
        ended.run_until_cancelled(following).await;
    }

    /// Sends the store's records after the cursor as fast as the client reads them, until it can join the
    /// live stream.
    async fn catch_up(&mut self, store: &Store, outbox: &Outbox) -> Result<(), ReadError> {
        loop {
            while self.is_behind {
                let page = store.records_after(self.feed, self.cursor, PAGE).await?;
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

fn no_task(scope: Scope) -> Error {
    let Scope::Task(id) = scope else { return Error::new(ErrorKind::NotFound, "there is no such task") };
    Error::new(ErrorKind::NotFound, format!("there is no task {id}")).about(id)
}
