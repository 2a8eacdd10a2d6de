//! Server-sent events of a reply, with limits on their size and on silence.

use crate::{
    assembly::{Fault, Nonsense},
    error::ModelError,
    http::Peer,
};
use abide_protocol::record::ModelErrorKind as Kind;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use reqwest::{Response, header::CONTENT_TYPE};
use sse_stream::{Error, SseByteStream};
use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::time::timeout;

/// The longest event, in bytes.
const MAX_EVENT: usize = 2 * 1024 * 1024;
/// How long to wait for the end of the response after the reply's, so that the connection can be reused.
const DRAIN: Duration = Duration::from_millis(50);

/// The events of one response.
pub(crate) struct Events<'a> {
    peer: &'a Peer<'a>,
    events: SseByteStream<Chunks>,
    /// Bytes since the last event.
    pending: Arc<AtomicUsize>,
}

type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, Break>> + Send>>;

/// Why the stream ended.
#[derive(Debug, thiserror::Error)]
enum Break {
    #[error("stalled")]
    Stalled,
    #[error("event too long")]
    TooLong,
    #[error(transparent)]
    Body(#[from] reqwest::Error),
}

impl<'a> Events<'a> {
    /// The events of `response`; fails if it is a web page or a single document.
    pub(crate) async fn of(peer: &'a Peer<'a>, mut response: Response) -> Result<Self, ModelError> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if kind == "application/json" {
            let start = timeout(peer.config.stall_timeout, response.chunk()).await;
            let body = start.ok().and_then(Result::ok).flatten().unwrap_or_default();
            if serde_json::from_slice::<serde_json::Value>(&body).is_ok_and(|v| v.get("error").is_some()) {
                return Err(peer.fault(Fault::Reported(String::from_utf8_lossy(&body).into_owned())));
            }
        }
        if matches!(kind.as_str(), "application/json" | "text/html") {
            let what = format!(
                "a document ({kind}) instead of a stream; is {} the right base_url?",
                peer.config.shown_url()
            );
            return Err(peer.fault(Fault::Broken(what.as_str().into())).fatal());
        }
        Ok(Self::over(peer, response.bytes_stream()))
    }

    /// The events of a body that arrives in pieces.
    pub(crate) fn over(
        peer: &'a Peer<'a>,
        body: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
    ) -> Self {
        let pending = Arc::new(AtomicUsize::new(0));
        let events = SseByteStream::new(chunks(body, Arc::clone(&pending), peer.config.stall_timeout));
        Self { peer, events, pending }
    }

    /// The next event with data; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Result<Option<String>, ModelError> {
        while let Some(event) = self.events.next().await {
            let event = event.map_err(|e| self.broken(e))?;
            self.pending.store(0, Ordering::Relaxed);
            if let Some(data) = event.data {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// Waits briefly for the end of the response: only then can the connection be reused.
    pub(crate) async fn drain(mut self) {
        let _ = timeout(DRAIN, self.events.next()).await;
    }

    fn broken(&self, error: Error) -> ModelError {
        let peer = self.peer;
        match error {
            Error::Body(cause) => match cause.downcast_ref::<Break>() {
                Some(Break::Stalled) => peer.stalled(peer.config.stall_timeout),
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
    pending: Arc<AtomicUsize>,
    stall: Duration,
) -> Chunks {
    Box::pin(stream::try_unfold((Box::pin(body), pending), move |(mut body, pending)| async move {
        let Some(chunk) = timeout(stall, body.next()).await.map_err(|_| Break::Stalled)?.transpose()? else {
            return Ok(None);
        };
        if pending.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len() > MAX_EVENT {
            return Err(Break::TooLong);
        }
        Ok(Some((chunk, (body, pending))))
    }))
}
