//! The stream of a session: server-sent events from a cursor on.

use super::{
    answer::{Asker, Body, response},
    cursor::{Cursor, NoCursor},
    narration::{Beside, Narration, before},
    refusal::Refusal,
};
use crate::events::Parcel;
use abide_protocol::{
    CallId, ConversationId, Error, ErrorKind, TaskId,
    codec::Outgoing,
    conversation::Conversation,
    method::{
        Reply, Request,
        subscription::{Scope, SubscribeParams},
    },
    notification::{DeltaItem, DeltaKind, Notification, Partial},
    record::{Record, RecordBody},
};
use abide_store::ReadError;
use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::{HeaderMap, Response, StatusCode, body::Frame};
use std::{collections::HashMap, convert::Infallible, time::Duration};
use tokio::time::Instant;
use tokio_util::sync::DropGuard;

/// The header with the id of the last event that a client has.
const LAST_EVENT_ID: &str = "last-event-id";
/// How long a stream may say nothing.
pub(super) const QUIET: Duration = Duration::from_secs(15);
/// How long a client waits before it connects again, in ms.
pub(super) const RETRY_MS: u32 = 2000;

/// A stream under way.
struct Streaming {
    asker: Asker,
    conversation: ConversationId,
    narration: Narration,
    /// Live output from before the stream began. It comes after the record of its request.
    partials: Vec<Partial>,
    /// Whether a task is a sub-task.
    sub_tasks: HashMap<TaskId, bool>,
    is_over: bool,
    /// Ends the subscription.
    _closing: DropGuard,
}

/// Streams a conversation from the cursor in the headers on; without one, from the beginning of the task that
/// has not ended, else from now.
pub(super) async fn stream(
    asker: Asker,
    conversation: &Conversation,
    headers: &HeaderMap,
) -> Result<Response<Body>, Refusal> {
    let id = conversation.id;
    let store = asker.service.store.clone();
    // Some clients send an empty one with their first request.
    let last = headers.get(LAST_EVENT_ID).filter(|last| !last.is_empty());
    let last = last.map(|last| parse(last.to_str().unwrap_or_default())).transpose()?;
    let unended = conversation.task.filter(|task| task.end_reason.is_none());
    let since = match (&last, unended) {
        (Some(last), _) => Some(last.seq),
        (None, Some(task)) => {
            let is_it = move |record: &Record| record.task_id == Some(task.id);
            let started = store.newest_record(id, "task_started", is_it).await.map_err(unreadable)?;
            started.map(|started| before(started.seq))
        }
        (None, None) => None,
    };
    let closing = asker.line.closing().clone().drop_guard();
    let subscribe = Request::Subscribe(SubscribeParams { scope: Scope::Tree(id), since });
    let Reply::Subscribe(reply) = asker.ask(subscribe).await? else {
        return Err(Refusal::new(ErrorKind::Internal, "the stream could not be opened"));
    };
    let cursor = last.unwrap_or(Cursor { seq: since.unwrap_or(reply.snapshot.seq), part: None });
    let is_text =
        |partial: &Partial| partial.kind == DeltaKind::Text && matches!(partial.item, DeltaItem::Reply(_));
    let mut streaming = Streaming {
        asker,
        conversation: id,
        narration: Narration::after(cursor),
        partials: reply.snapshot.partials.into_iter().filter(is_text).collect(),
        sub_tasks: HashMap::new(),
        is_over: false,
        _closing: closing,
    };
    let mut head = format!("retry: {RETRY_MS}\nid: {cursor}\n\n");
    head.push_str(&streaming.begun_before().await.map_err(unreadable)?);
    let events = stream::unfold((streaming, Some(head)), |(mut streaming, head)| async move {
        let text = match head {
            Some(head) => head,
            None => streaming.next().await?,
        };
        Some((Ok::<_, Infallible>(Frame::data(Bytes::from(text))), (streaming, None)))
    });
    Ok(response(StatusCode::OK, "text/event-stream", StreamBody::new(events).boxed_unsync()))
}

fn parse(last: &str) -> Result<Cursor, Refusal> {
    last.parse().map_err(|NoCursor| {
        let words = "Last-Event-ID is no id of an event; leave it out to begin with the task that works now";
        Refusal::new(ErrorKind::InvalidParams, words)
    })
}

pub(super) fn unreadable(error: ReadError) -> Refusal {
    tracing::error!("{error}");
    Error::new(ErrorKind::Storage, format!("{error}; `abide doctor` can tell more")).into()
}

impl Streaming {
    /// The live output whose request the client knows already; the rest is told after its request.
    async fn begun_before(&mut self) -> Result<String, ReadError> {
        let mut out = String::new();
        for partial in std::mem::take(&mut self.partials) {
            if self.is_sub_task(partial.task_id).await? {
                continue;
            }
            let (item, attempt) = (partial.item, partial.attempt);
            let is_it = move |record: &Record| begins(record, item, attempt);
            let asked = self.newest("model_requested", is_it).await?;
            if asked.is_none_or(|record| record.seq <= self.narration.cursor().seq) {
                out.push_str(&self.narration.partial(&partial));
            } else {
                self.partials.push(partial);
            }
        }
        Ok(out)
    }

    /// The next events; `None`: the stream is over, and the client may come back with its cursor.
    async fn next(&mut self) -> Option<String> {
        let (outbox, supervisor) = (self.asker.line.outbox().clone(), self.asker.service.supervisor.clone());
        let revoked = self.asker.device.revoked.clone();
        // What comes meanwhile may be nothing that is told.
        let quiet = Instant::now() + QUIET;
        while !self.is_over {
            let parcels = tokio::select! {
                biased;
                () = revoked.cancelled() => return None,
                () = supervisor.ending() => return None,
                () = tokio::time::sleep_until(quiet) => return Some(":\n\n".to_owned()),
                parcels = outbox.take() => parcels,
            };
            let told = self.tell(parcels).await.unwrap_or_else(|e| {
                tracing::error!("a stream ends: {e}");
                self.is_over = true;
                String::new()
            });
            if !told.is_empty() {
                return Some(told);
            }
        }
        None
    }

    async fn tell(&mut self, parcels: Vec<Parcel>) -> Result<String, ReadError> {
        let mut out = String::new();
        for parcel in parcels {
            match parcel {
                Parcel::Record { record, .. } => out.push_str(&self.record(&record).await?),
                Parcel::Close => self.is_over = true,
                Parcel::Outgoing(outgoing) => match *outgoing {
                    Outgoing::Notification(Notification::TaskDelta(delta)) => {
                        if !self.is_sub_task(delta.task_id).await? {
                            out.push_str(&self.narration.delta(&delta));
                        }
                    }
                    Outgoing::Notification(Notification::Lagged(_)) => self.is_over = true,
                    _ => {}
                },
            }
        }
        Ok(out)
    }

    async fn record(&mut self, record: &Record) -> Result<String, ReadError> {
        let is_sub_task = match record.task_id {
            Some(task) => self.is_sub_task(task).await?,
            None => false,
        };
        let mut beside = Beside { is_sub_task, ..Beside::default() };
        match &record.body {
            RecordBody::CallFinished(finished)
                if !is_sub_task && self.narration.tool(finished.call_id).is_none() =>
            {
                let call = finished.call_id;
                let has_it = move |record: &Record| tool_of(record, call).is_some();
                let reply = self.newest("reply", has_it).await?;
                beside.tool = reply.and_then(|reply| tool_of(&reply, call));
            }
            RecordBody::TaskEnded(_) if !is_sub_task => {
                let task = match record.task_id {
                    Some(task) => self.asker.service.store.task(task).await?,
                    None => None,
                };
                beside.usage = task.map(|task| task.usage_of_all());
            }
            RecordBody::ConversationDeleted(_) => self.is_over = true,
            _ => {}
        }
        let mut out = self.narration.record(record, &beside);
        let begun = self.partials.extract_if(.., |partial| begins(record, partial.item, partial.attempt));
        for partial in begun.collect::<Vec<_>>() {
            out.push_str(&self.narration.partial(&partial));
        }
        Ok(out)
    }

    async fn is_sub_task(&mut self, task: TaskId) -> Result<bool, ReadError> {
        if let Some(known) = self.sub_tasks.get(&task) {
            return Ok(*known);
        }
        let found = self.asker.service.store.task(task).await?;
        let is_sub_task = found.is_some_and(|task| task.parent_id.is_some());
        self.sub_tasks.insert(task, is_sub_task);
        Ok(is_sub_task)
    }

    async fn newest(
        &self,
        kind: &'static str,
        is_it: impl Fn(&Record) -> bool + Clone + Send + 'static,
    ) -> Result<Option<Record>, ReadError> {
        self.asker.service.store.newest_record(self.conversation, kind, is_it).await
    }
}

/// Whether the record begins this attempt of the item.
fn begins(record: &Record, item: DeltaItem, attempt: u32) -> bool {
    match &record.body {
        RecordBody::ModelRequested(asked) => (DeltaItem::Reply(asked.item), asked.attempt) == (item, attempt),
        _ => false,
    }
}

fn tool_of(record: &Record, call: CallId) -> Option<String> {
    let RecordBody::Reply(reply) = &record.body else { return None };
    reply.calls().find(|block| block.id == call).map(|block| block.tool.clone())
}
