//! A subscription begins: register first, then read the live output, then the store; so nothing is missed and nothing comes twice.

use super::connection::Connection;
use crate::events::Subscriber;
use abide_protocol::{
    Error, Seq, SubscriptionId,
    codec::RequestId,
    method::{
        Reply,
        subscription::{Scope, SubscribeParams, SubscribeReply, UnsubscribeReply},
    },
};
use std::sync::{Arc, PoisonError};
use tokio_util::sync::CancellationToken;

/// Records that are read from the store at a time.
const PAGE: u32 = 256;
/// Subscriptions of one connection.
const MAX_SUBSCRIPTIONS: usize = 64;

/// Answers with a snapshot, then lets every later record follow until it is ended.
pub(super) fn begin(connection: &Arc<Connection>, request: Option<RequestId>, params: SubscribeParams) {
    let ended = connection.closing.child_token();
    let id = {
        let mut subscriptions = connection.subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
        if subscriptions.len() >= MAX_SUBSCRIPTIONS {
            let words = format!("this connection has {MAX_SUBSCRIPTIONS} subscriptions; end one first");
            return connection.answer(request, Err(Error::new(abide_protocol::ErrorKind::Overloaded, words)));
        }
        let id = SubscriptionId(subscriptions.keys().map(|id| id.0).max().unwrap_or(0) + 1);
        subscriptions.insert(id, ended.clone());
        id
    };
    let connection = connection.clone();
    let supervisor = connection.service.supervisor.clone();
    supervisor.spawn("subscription", async move {
        if let Some(work) = ended.run_until_cancelled(run(&connection, id, request.clone(), params, &ended)).await
            && let Err(error) = work
        {
            connection.answer(request, Err(error));
        }
        connection.subscriptions.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    });
}

/// Ends a subscription.
pub(super) fn end(connection: &Connection, id: SubscriptionId) -> UnsubscribeReply {
    let ended = connection.subscriptions.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    let was_subscribed = ended.map(|token| token.cancel()).is_some();
    UnsubscribeReply { was_subscribed }
}

async fn run(
    connection: &Connection,
    id: SubscriptionId,
    request: Option<RequestId>,
    params: SubscribeParams,
    ended: &CancellationToken,
) -> Result<(), Error> {
    let SubscribeParams { scope, since } = params;
    let (subscriber, partials) = connection.service.hub.join(id, scope, connection.outbox.clone());
    if let Scope::Conversation(conversation) = scope {
        super::handlers::existing(&connection.service.store, conversation).await?;
    }
    let mut snapshot = connection.service.store.snapshot(scope, since).await.map_err(super::handlers::storage)?;
    snapshot.partials = partials;
    snapshot.daemon = connection.service.hub.daemon_state();
    let cursor = since.unwrap_or(snapshot.seq);
    connection.answer(request, Ok(Reply::Subscribe(SubscribeReply { subscription_id: id, snapshot })));
    if let Err(e) = catch_up(connection, &subscriber, id, scope, cursor, since.is_some()).await {
        // The reply is out; all that is left is to end the connection, which the client knows how to resume.
        tracing::error!("a subscription could not be brought up to date: {e}");
        connection.outbox.close();
    }
    ended.cancelled().await;
    Ok(())
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
            connection.outbox.has_room().await;
            let page = connection.service.store.records_after(conversation, cursor, PAGE).await?;
            behind = page.len() == PAGE as usize;
            for record in page {
                cursor = record.seq;
                connection.outbox.record(id, Arc::new(record));
            }
        }
        if subscriber.joined(cursor) {
            return Ok(());
        }
        behind = true;
    }
}
