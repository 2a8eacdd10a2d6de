//! The stream of the inbox and the conversations, and of one session beside them, so that a page needs one
//! connection.

use super::{
    answer::{Asker, Body, response},
    refusal::Refusal,
    stream::{self, COMMENT, QUIET, RETRY_MS},
};
use crate::events::Parcel;
use abide_protocol::{
    codec::Outgoing,
    conversation::Conversation,
    method::{
        Request,
        subscription::{Scope, SubscribeParams},
    },
    notification::Notification,
};
use bytes::Bytes;
use futures_util::{StreamExt as _, future::ready, stream as streams};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::{HeaderMap, Response, StatusCode, body::Frame};
use serde_json::json;
use std::convert::Infallible;
use tokio::time::Instant;
use tokio_util::sync::DropGuard;

/// An overview under way.
struct Overview {
    asker: Asker,
    is_over: bool,
    /// Ends the subscription.
    _closing: DropGuard,
}

/// Streams what changes in the inbox and in the list of conversations from now on, and what happens in the
/// session from the cursor in the headers on.
pub(super) async fn stream(
    asker: Asker,
    session: Option<&Conversation>,
    headers: &HeaderMap,
) -> Result<Response<Body>, Refusal> {
    let own = Asker::on_line(asker.service.clone(), asker.device.clone());
    let closing = own.line.closing().clone().drop_guard();
    own.ask(Request::Subscribe(SubscribeParams { scope: Scope::Overview, since: None })).await?;
    let overview = Overview { asker: own, is_over: false, _closing: closing };
    let head = format!("retry: {RETRY_MS}\n\n");
    let overview = streams::unfold((overview, Some(head)), |(mut overview, head)| async move {
        let text = match head {
            Some(head) => head,
            None => overview.next().await?,
        };
        Some((Bytes::from(text), (overview, None)))
    });
    let session = match session {
        Some(conversation) => {
            let body = stream::stream(asker, conversation, headers).await?.into_body();
            body.into_data_stream().map(|Ok::<Bytes, Infallible>(data)| data).boxed()
        }
        None => streams::pending().boxed(),
    };
    // Over as soon as one of them is: the client comes back for both.
    let [overview, session] =
        [overview.boxed(), session].map(|events| events.map(Some).chain(streams::once(ready(None))));
    let events = streams::select(overview, session).take_while(|data| ready(data.is_some()));
    let events = events.filter_map(|data| ready(data.map(|data| Ok::<_, Infallible>(Frame::data(data)))));
    Ok(response(StatusCode::OK, "text/event-stream", StreamBody::new(events).boxed_unsync()))
}

impl Overview {
    /// The next events; `None`: the stream is over.
    async fn next(&mut self) -> Option<String> {
        let quiet = Instant::now() + QUIET;
        while !self.is_over {
            let parcels = stream::parcels(&self.asker, quiet).await?;
            if parcels.is_empty() {
                return Some(COMMENT.to_owned());
            }
            let told: String = parcels.into_iter().filter_map(|parcel| self.tell(parcel)).collect();
            if !told.is_empty() {
                return Some(told);
            }
        }
        None
    }

    fn tell(&mut self, parcel: Parcel) -> Option<String> {
        let (name, mut data) = match parcel.into_outgoing() {
            Some(Outgoing::Notification(Notification::InboxUpdate(update))) => {
                ("inbox_update", json!(update))
            }
            Some(Outgoing::Notification(Notification::ConversationUpdate(update))) => {
                ("conversation_update", json!(update))
            }
            Some(Outgoing::Notification(Notification::Lagged(_))) | None => {
                self.is_over = true;
                return None;
            }
            Some(_) => return None,
        };
        data["type"] = json!(name);
        // Without an id: these are states, and the client's id is one of its session.
        Some(format!("event: {name}\ndata: {data}\n\n"))
    }
}
