use super::shared::{Disconnect, Shared};
use abide_host::framing::Framing;
use abide_protocol::{
    codec::{Codec, Received},
    notification::Notification,
};
use futures_util::{StreamExt as _, stream::SplitStream};
use std::sync::Arc;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
};
use tokio_util::codec::Framed;

/// Notifications in the daemon's order.
#[derive(Debug)]
pub struct Notifications(mpsc::Receiver<Notification>);

impl Notifications {
    pub(super) const fn new(receiver: mpsc::Receiver<Notification>) -> Self {
        Self(receiver)
    }

    /// The next one; `None` when the connection is over (see [`super::Client::disconnected`]). Cancel-safe.
    pub async fn next(&mut self) -> Option<Notification> {
        self.0.recv().await
    }
}

pub(super) async fn read<S>(mut stream: SplitStream<Framed<S, Framing>>, codec: Codec, shared: Arc<Shared>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let reason = loop {
        let bytes = match stream.next().await {
            None => break Disconnect::Closed,
            Some(Err(e)) => break Disconnect::Io(e.to_string()),
            Some(Ok(bytes)) => bytes,
        };
        match codec.decode_received(&bytes) {
            Ok(Received::Reply { id, body }) => shared.answer(id, body),
            Ok(Received::Notification(notification)) => {
                if let Some(listener) = shared.current_listener() {
                    // If the listener is gone, the notification is dropped.
                    drop(listener.send(notification).await);
                }
            }
            Ok(Received::Unknown) => {}
            Ok(Received::Error(error)) => break Disconnect::Garbled(error.to_string()),
            // JSON messages may be of a newer daemon, and are skipped if this client does not understand
            // them.
            Err(e) if codec == Codec::Json && is_json(&bytes) => {
                tracing::debug!(error = %e, "skipped a message that this version does not understand");
            }
            Err(e) => break Disconnect::Garbled(e.to_string()),
        }
    };
    shared.close(&reason);
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<&serde_json::value::RawValue>(bytes).is_ok()
}
