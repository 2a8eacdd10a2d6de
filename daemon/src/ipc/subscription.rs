//! A subscription begins: register first, then read the live output, then the store; so nothing is missed and nothing comes twice.

use super::{Service, connection::Connection, request_error::RequestError};
use crate::events::Subscriber;
use abide_protocol::{
    Error, ErrorKind, Seq, SubscriptionId,
    codec::RequestId,
    limits::MAX_SUBSCRIPTIONS,
    method::{
        Reply,
        subscription::{Scope, SubscribeParams, SubscribeReply, UnsubscribeReply},
    },
    notification::Snapshot,
};
use std::{
    collections::HashMap,
    future,
    sync::{Arc, PoisonError},
};
use tokio_util::sync::CancellationToken;

/// Records that are read from the store at a time.
const PAGE: u32 = 256;

/// The subscriptions of a connection, and how to end each.
#[derive(Default)]
pub(super) struct Subscriptions {
    open: HashMap<SubscriptionId, CancellationToken>,
    /// The last id that was given. None is given twice: what still waits to be written may be of one that has ended.
    last: u64,
}

/// Answers with a snapshot, and lets every later record follow until the subscription is ended.
pub(super) async fn begin(connection: Arc<Connection>, request: Option<RequestId>, params: SubscribeParams) {
    let ended = connection.closing.child_token();
    let id = {
        let mut subscriptions = connection.subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
        if subscriptions.open.len() >= MAX_SUBSCRIPTIONS {
            let words = format!("this connection has {MAX_SUBSCRIPTIONS} subscriptions; end one first");
            return connection.answer(request, Err(Error::new(ErrorKind::Overloaded, words)));
        }
        subscriptions.last += 1;
        let id = SubscriptionId(subscriptions.last);
        subscriptions.open.insert(id, ended.clone());
        id
    };
    let SubscribeParams { scope, since } = params;
    let (subscriber, snapshot) = match open(&connection, id, scope, since).await {
        Ok(opened) => opened,
        Err(error) => {
            end(&connection, id);
            return connection.answer(request, Err(error.into()));
        }
    };
    let cursor = since.unwrap_or(snapshot.seq);
    connection.answer(request, Ok(Reply::Subscribe(SubscribeReply { subscription_id: id, snapshot })));
    let supervisor = connection.service.supervisor.clone();
    supervisor.spawn("subscription", async move {
        let follow = async {
            if let Err(e) = catch_up(&connection, &subscriber, id, scope, cursor, since.is_some()).await {
                // The reply is out; all that is left is to end the connection, which the client knows how to resume.
                tracing::error!("a subscription could not be brought up to date: {e}");
                connection.outbox.close();
            }
            future::pending::<()>().await;
        };
        ended.run_until_cancelled(follow).await;
    });
}

/// Ends a subscription.
pub(super) fn end(connection: &Connection, id: SubscriptionId) -> UnsubscribeReply {
    let ended = connection.subscriptions.lock().unwrap_or_else(PoisonError::into_inner).open.remove(&id);
    let was_subscribed = ended.map(|token| token.cancel()).is_some();
    UnsubscribeReply { was_subscribed }
}

async fn open(
    connection: &Connection,
    id: SubscriptionId,
    scope: Scope,
    since: Option<Seq>,
) -> Result<(Subscriber, Snapshot), RequestError> {
    let Service { hub, store, .. } = &connection.service;
    let (subscriber, partials) = hub.join(id, scope, connection.outbox.clone());
    if let Scope::Conversation(conversation) = scope {
        super::handlers::existing(store, conversation).await?;
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
    Ok((subscriber, snapshot))
}

/// Sends what the store has after `cursor`, at the reader's pace, until the live stream takes over.
async fn catch_up(
    connection: &Connection,
    subscriber: &Subscriber,
    id: SubscriptionId,
    scope: Scope,
    mut cursor: Seq,
    mut behind: bool,
) -> Result<(), abide_store::ReadError> {
    let conversation = match scope {
        // Latest-wins only: there is nothing to catch up with.
        Scope::Overview => {
            behind = false;
            None
        }
        Scope::All => None,
        Scope::Conversation(id) => Some(id),
    };
    loop {
        while behind {
            let page = connection.service.store.records_after(conversation, cursor, PAGE).await?;
            behind = page.len() == PAGE as usize;
            for record in page {
                cursor = record.seq;
                connection.outbox.has_room().await;
                connection.outbox.record(id, Arc::new(record));
            }
        }
        if subscriber.joined(cursor) {
            return Ok(());
        }
        behind = true;
    }
}
