//! Server-sent events from a cursor on: of a session, or of an agent.

use super::{
    agent,
    answer::{Asker, Body, response},
    cursor::{Cursor, NoCursor},
    narration::{Narration, Told, before},
    refusal::Refusal,
    voice::{Beside, Event, Voice, changes_agent},
};
use crate::events::Parcel;
use abide_protocol::{
    CallId, ConversationId, ErrorKind, Seq, TaskId,
    codec::Outgoing,
    conversation::Conversation,
    method::{
        Reply, Request,
        subscription::{Scope, SubscribeParams},
    },
    notification::{DeltaItem, Notification, Partial},
    record::{Record, RecordBody},
};
use abide_store::ReadError;
use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::{HeaderMap, Response, StatusCode, body::Frame, header::HeaderValue};
use std::{collections::HashMap, convert::Infallible, time::Duration};
use tokio::time::Instant;
use tokio_util::sync::DropGuard;

/// The header with the id of the last event that a client has.
const LAST_EVENT_ID: &str = "last-event-id";
/// What a stream says that has nothing to tell.
pub(super) const COMMENT: &str = ":\n\n";
/// How long a stream may say nothing.
pub(super) const QUIET: Duration = Duration::from_secs(15);
/// How long a client waits before it connects again, in ms.
pub(super) const RETRY_MS: u32 = 2000;

/// A stream under way.
pub(super) struct Streaming {
    asker: Asker,
    conversation: ConversationId,
    /// The task that it is about, with its sub-tasks; `None`: all root tasks of the conversation.
    about: Option<TaskId>,
    voice: Voice,
    narration: Narration,
    /// Live output from before the stream began. It comes after the record of its request.
    partials: Vec<Partial>,
    kin: HashMap<TaskId, Kin>,
    pub(super) is_over: bool,
    /// Closes the line, and so ends the subscription.
    _closing: DropGuard,
}

/// What a task is to a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kin {
    Own,
    /// A sub-task of it, at any depth.
    Beneath,
    Stranger,
}

/// Streams a conversation from the cursor in the headers on; without one, from the beginning of the task that
/// has not ended, else from now.
pub(super) async fn stream(
    asker: Asker,
    conversation: &Conversation,
    headers: &HeaderMap,
) -> Result<Response<Body>, Refusal> {
    let cursor = match last_event_id(headers)? {
        Some(last) => Some(last),
        None => beginning(&asker, conversation).await?,
    };
    Streaming::begin(asker, conversation.id, None, Voice::Session, cursor).await?.respond(None).await
}

/// Before the task that has not ended.
pub(super) async fn beginning(asker: &Asker, conversation: &Conversation) -> Result<Option<Cursor>, Refusal> {
    let unended = conversation.task.filter(|task| task.end_reason.is_none());
    let Some(task) = unended else { return Ok(None) };
    let started = started(asker, conversation.id, task.id).await?;
    Ok(started.map(|seq| Cursor { seq: before(seq), part: None }))
}

/// The id of the last event that a client has.
pub(super) fn last_event_id(headers: &HeaderMap) -> Result<Option<Cursor>, Refusal> {
    // Some clients send an empty one with their first request.
    let last = headers.get(LAST_EVENT_ID).filter(|last| !last.is_empty());
    let parse = |last: &HeaderValue| last.to_str().unwrap_or_default().parse();
    last.map(parse).transpose().map_err(|NoCursor| {
        let words = "Last-Event-ID is no id of an event; leave it out to begin with the task that works now";
        Refusal::new(ErrorKind::InvalidParams, words)
    })
}

/// The seq of a task's first record.
pub(super) async fn started(
    asker: &Asker,
    conversation: ConversationId,
    task: TaskId,
) -> Result<Option<Seq>, Refusal> {
    let is_it = move |record: &Record| record.task_id == Some(task);
    let started = asker.service.store.newest_record(conversation, "task_started", is_it).await;
    Ok(started?.map(|record| record.seq))
}

impl Streaming {
    /// Subscribes. Without a cursor it begins with what comes.
    pub(super) async fn begin(
        asker: Asker,
        conversation: ConversationId,
        about: Option<TaskId>,
        voice: Voice,
        cursor: Option<Cursor>,
    ) -> Result<Self, Refusal> {
        let closing = asker.line.closing().clone().drop_guard();
        let since = cursor.map(|cursor| cursor.seq);
        let subscribe = Request::Subscribe(SubscribeParams { scope: Scope::Tree(conversation), since });
        let Reply::Subscribe(reply) = asker.ask(subscribe).await? else {
            return Err(Refusal::new(ErrorKind::Internal, "the stream could not be opened"));
        };
        let cursor = cursor.unwrap_or(Cursor { seq: reply.snapshot.seq, part: None });
        let is_told =
            |partial: &Partial| voice.tells(partial.kind) && matches!(partial.item, DeltaItem::Reply(_));
        Ok(Self {
            asker,
            conversation,
            about,
            voice,
            narration: Narration::after(cursor, voice),
            partials: reply.snapshot.partials.into_iter().filter(is_told).collect(),
            kin: HashMap::new(),
            is_over: false,
            _closing: closing,
        })
    }

    /// The answer to a request. `first` is told before all else.
    pub(super) async fn respond(mut self, first: Option<Event>) -> Result<Response<Body>, Refusal> {
        let mut head = format!("retry: {RETRY_MS}\n");
        head.push_str(&match first {
            Some(first) => self.narration.event(first).sse(self.voice),
            None => format!("id: {}\n\n", self.narration.cursor()),
        });
        let begun = self.begun_before().await?;
        head.push_str(&self.sse(&begun));
        let events = stream::unfold((self, Some(head)), |(mut streaming, head)| async move {
            let text = match head {
                Some(head) => head,
                None => streaming.next().await?,
            };
            Some((Ok::<_, Infallible>(Frame::data(Bytes::from(text))), (streaming, None)))
        });
        Ok(response(StatusCode::OK, "text/event-stream", StreamBody::new(events).boxed_unsync()))
    }

    fn sse(&self, told: &[Told]) -> String {
        told.iter().map(|told| told.sse(self.voice)).collect()
    }

    /// The live output whose request the client knows already; the rest is told after its request.
    pub(super) async fn begun_before(&mut self) -> Result<Vec<Told>, ReadError> {
        let mut out = Vec::new();
        for partial in std::mem::take(&mut self.partials) {
            if self.kin(partial.task_id).await? != Kin::Own {
                continue;
            }
            let (item, attempt) = (partial.item, partial.attempt);
            let is_it = move |record: &Record| begins(record, item, attempt);
            let asked = self.newest("model_requested", is_it).await?;
            if asked.is_none_or(|record| record.seq <= self.narration.cursor().seq) {
                out.extend(self.narration.partial(&partial));
            } else {
                self.partials.push(partial);
            }
        }
        Ok(out)
    }

    /// The next events; `None`: the stream is over, and the client may come back with its cursor.
    async fn next(&mut self) -> Option<String> {
        // What comes meanwhile may be nothing that is told.
        let quiet = Instant::now() + QUIET;
        while !self.is_over {
            let parcels = parcels(&self.asker, quiet).await?;
            if parcels.is_empty() {
                return Some(COMMENT.to_owned());
            }
            let told = self.tell(parcels).await;
            if !told.is_empty() {
                return Some(self.sse(&told));
            }
        }
        None
    }

    /// What these parcels tell. Nothing more comes if `is_over` is set.
    pub(super) async fn tell(&mut self, parcels: Vec<Parcel>) -> Vec<Told> {
        let mut out = Vec::new();
        for parcel in parcels {
            if let Err(e) = self.tell_one(parcel, &mut out).await {
                tracing::error!("a stream ends: {e}");
                self.is_over = true;
            }
            if self.is_over {
                break;
            }
        }
        out
    }

    async fn tell_one(&mut self, parcel: Parcel, out: &mut Vec<Told>) -> Result<(), ReadError> {
        match parcel {
            Parcel::Record { record, .. } => self.record(&record, out).await?,
            Parcel::Close => self.is_over = true,
            Parcel::Outgoing(outgoing) => match *outgoing {
                Outgoing::Notification(Notification::TaskDelta(delta)) => {
                    let is_own = self.kin(delta.task_id).await? == Kin::Own;
                    out.extend(is_own.then(|| self.narration.delta(&delta)).flatten());
                }
                Outgoing::Notification(Notification::Lagged(_)) => self.is_over = true,
                _ => {}
            },
        }
        Ok(())
    }

    async fn record(&mut self, record: &Record, out: &mut Vec<Told>) -> Result<(), ReadError> {
        let kin = match record.task_id {
            Some(task) => self.kin(task).await?,
            None if self.about.is_some() => Kin::Stranger,
            None => Kin::Own,
        };
        if kin != Kin::Stranger {
            let beside = self.beside(record, kin).await?;
            out.extend(self.narration.record(record, &beside));
        }
        let begun = self.partials.extract_if(.., |partial| begins(record, partial.item, partial.attempt));
        for partial in begun.collect::<Vec<_>>() {
            out.extend(self.narration.partial(&partial));
        }
        self.is_over |= match record.body {
            RecordBody::ConversationDeleted(_) => true,
            RecordBody::TaskEnded(_) => kin == Kin::Own && self.about.is_some(),
            _ => false,
        };
        Ok(())
    }

    async fn beside(&self, record: &Record, kin: Kin) -> Result<Beside, ReadError> {
        let store = &self.asker.service.store;
        let mut beside = Beside { is_sub_task: kin == Kin::Beneath, ..Beside::default() };
        match &record.body {
            RecordBody::CallFinished(finished)
                if kin == Kin::Own && self.narration.tool(finished.call_id).is_none() =>
            {
                let call = finished.call_id;
                let has_it = move |record: &Record| tool_of(record, call).is_some();
                let reply = self.newest("reply", has_it).await?;
                beside.tool = reply.and_then(|reply| tool_of(&reply, call));
            }
            RecordBody::TaskEnded(_) if kin == Kin::Own => {
                let task = match record.task_id {
                    Some(task) => store.task(task).await?,
                    None => None,
                };
                beside.usage = task.map(|task| task.usage_of_all());
            }
            _ => {}
        }
        if let Some(task) = record.task_id {
            match self.voice {
                Voice::Session => {}
                Voice::Chunks if changes_agent(&record.body) => {
                    beside.agent = agent::shown(store, task).await?;
                }
                Voice::Chunks => {}
                Voice::Roa => beside.task = store.task(task).await?,
            }
        }
        Ok(beside)
    }

    async fn kin(&mut self, task: TaskId) -> Result<Kin, ReadError> {
        if let Some(known) = self.kin.get(&task) {
            return Ok(*known);
        }
        let (mut above, mut kin) = (Some(task), Kin::Stranger);
        while let Some(id) = above {
            let parent = self.asker.service.store.task(id).await?.and_then(|task| task.parent_id);
            if self.about.map_or(parent.is_none(), |about| about == id) {
                kin = if id == task { Kin::Own } else { Kin::Beneath };
                break;
            }
            above = parent;
        }
        self.kin.insert(task, kin);
        Ok(kin)
    }

    async fn newest(
        &self,
        kind: &'static str,
        is_it: impl Fn(&Record) -> bool + Clone + Send + 'static,
    ) -> Result<Option<Record>, ReadError> {
        self.asker.service.store.newest_record(self.conversation, kind, is_it).await
    }
}

/// The next parcels of a line; none when it is `quiet`. `None`: the stream is over.
pub(super) async fn parcels(asker: &Asker, quiet: Instant) -> Option<Vec<Parcel>> {
    tokio::select! {
        biased;
        () = asker.device.revoked.cancelled() => None,
        () = asker.service.supervisor.ending() => None,
        () = tokio::time::sleep_until(quiet) => Some(Vec::new()),
        parcels = asker.line.outbox().take() => Some(parcels),
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
