//! Server-sent events of a reply, with limits on their size and on silence.

use crate::{
    assembly::{Fault, Nonsense},
    error::ModelError,
    http::Peer,
    patience::{Patience, Signs},
    surrogates::Surrogates,
};
use abide_protocol::record::ModelErrorKind as Kind;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use reqwest::Response;
use serde::de::IgnoredAny;
use sse_stream::{Error, SseByteStream};
use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::time::{timeout, timeout_at};

/// The longest event, in bytes.
const MAX_EVENT: usize = 2 * 1024 * 1024;
/// How long to wait for the end of the response after the reply's, so that the connection can be reused.
const DRAIN: Duration = Duration::from_millis(50);

/// The events of one response.
pub(crate) struct Events<'a> {
    peer: &'a Peer<'a>,
    events: SseByteStream<Chunks>,
    pub(crate) patience: Patience,
    surrogates: Surrogates,
    seen: Arc<Seen>,
}

/// What is known of the bytes so far.
#[derive(Default)]
struct Seen {
    /// Bytes since the last event.
    pending: AtomicUsize,
    /// The body is one JSON document.
    is_document: AtomicBool,
}

type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, Break>> + Send>>;

/// Why the stream ended.
#[derive(Debug, thiserror::Error)]
enum Break {
    #[error("event too long")]
    TooLong,
    #[error("a web page")]
    Page,
    #[error(transparent)]
    Body(#[from] reqwest::Error),
}

impl<'a> Events<'a> {
    /// The events of `response`. Its headers say nothing: many servers give their streams another type.
    pub(crate) fn of(peer: &'a Peer<'a>, response: Response) -> Self {
        Self::over(peer, response.bytes_stream())
    }

    /// The events of a body that arrives in pieces. A body that is one JSON document is one event.
    pub(crate) fn over(
        peer: &'a Peer<'a>,
        body: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
    ) -> Self {
        let patience = Patience::new(peer.config);
        let seen = Arc::new(Seen::default());
        let events = SseByteStream::new(chunks(body, Arc::clone(&seen), patience.signs()));
        Self { peer, events, patience, surrogates: Surrogates::default(), seen }
    }

    /// The next event with data; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Result<Option<String>, ModelError> {
        loop {
            let deadline = self.patience.deadline();
            let Ok(event) = timeout_at(deadline, self.events.next()).await else {
                if self.patience.deadline() > deadline {
                    continue;
                }
                return Err(self.peer.silent(&self.patience));
            };
            let Some(event) = event else { return Ok(None) };
            let event = event.map_err(|e| self.broken(e))?;
            self.seen.pending.store(0, Ordering::Relaxed);
            if let Some(data) = event.data {
                let data = self.surrogates.mend(data);
                if self.is_document() && serde_json::from_str::<IgnoredAny>(&data).is_err_and(|e| e.is_eof())
                {
                    return Err(self.peer.cut());
                }
                return Ok(Some(data));
            }
        }
    }

    /// The stream ended, and the reply is not complete.
    pub(crate) fn ended_early(&self) -> ModelError {
        if self.is_document() { self.document("JSON") } else { self.peer.cut() }
    }

    /// The body is one JSON document.
    pub(crate) fn is_document(&self) -> bool {
        self.seen.is_document.load(Ordering::Relaxed)
    }

    /// The body is a document that is no reply.
    fn document(&self, kind: &str) -> ModelError {
        let what = format!(
            "a document ({kind}) instead of a reply; is {} the right base_url?",
            self.peer.config.shown_url()
        );
        self.peer.fault(Fault::Broken(what.as_str().into())).fatal()
    }

    /// Waits briefly for the end of the response: only then can the connection be reused.
    pub(crate) async fn drain(mut self) {
        let _ = timeout(DRAIN, self.events.next()).await;
    }

    fn broken(&self, error: Error) -> ModelError {
        let peer = self.peer;
        match error {
            Error::Body(cause) => match cause.downcast_ref::<Break>() {
                Some(Break::Page) => self.document("a web page"),
                Some(Break::TooLong) => {
                    let what = format!("an event of more than {} MiB", MAX_EVENT / 1024 / 1024);
                    peer.fault(Fault::Broken(what.as_str().into())).fatal()
                }
                Some(Break::Body(e)) if e.is_body() || e.is_decode() => peer.cut(),
                Some(Break::Body(e)) => peer.network(e),
                None => peer.error(Kind::Network, peer.quoted(&cause.to_string())),
            },
            Error::Utf8Parse(_) => peer.fault(Fault::Broken("an event that is not UTF-8".into())),
            other => {
                let detail = Some(other.to_string());
                peer.fault(Fault::Broken(Nonsense {
                    what: "a stream that cannot be read".to_owned(),
                    detail,
                }))
            }
        }
    }
}

fn chunks(
    body: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
    seen: Arc<Seen>,
    signs: Signs,
) -> Chunks {
    let body = stream::try_unfold((Box::pin(body), seen, signs, Form::Unknown), |state| async move {
        let (mut body, seen, signs, mut form) = state;
        if matches!(form, Form::Ended) {
            return Ok(None);
        }
        let Some(chunk) = body.next().await.transpose()? else {
            let end = matches!(form, Form::Document).then(|| Bytes::from_static(b"\n\n"));
            return Ok(end.map(|end| (end, (body, seen, signs, Form::Ended))));
        };
        signs.note();
        if seen.pending.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len() > MAX_EVENT {
            return Err(Break::TooLong);
        }
        let is_first = matches!(form, Form::Unknown);
        if is_first {
            form = Form::of(&chunk);
        }
        let chunk = match form {
            Form::Page => return Err(Break::Page),
            Form::Document => {
                seen.is_document.store(true, Ordering::Relaxed);
                as_event(&chunk, is_first)
            }
            Form::Unknown | Form::Events | Form::Ended => chunk,
        };
        Ok(Some((chunk, (body, seen, signs, form))))
    });
    Box::pin(body)
}

/// What a body is, by its first character.
enum Form {
    /// Only space has come.
    Unknown,
    Events,
    Document,
    Page,
    Ended,
}

impl Form {
    fn of(chunk: &[u8]) -> Self {
        match chunk.trim_ascii_start().first() {
            None => Self::Unknown,
            Some(b'{' | b'[') => Self::Document,
            Some(b'<') => Self::Page,
            Some(_) => Self::Events,
        }
    }
}

/// A piece of a JSON document as one of an event's line. (In JSON, line ends are space.)
fn as_event(chunk: &[u8], is_first: bool) -> Bytes {
    let line = chunk.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte });
    if is_first { b"data: ".iter().copied().chain(line).collect() } else { line.collect() }
}
