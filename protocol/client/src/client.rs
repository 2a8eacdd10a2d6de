mod call;
mod reader;
mod shared;

pub use call::CallError;
pub use reader::Notifications;
pub use shared::Disconnect;

use abide_host::framing::Framing;
use abide_protocol::{codec::Codec, hello::HelloReply};
use futures_util::{SinkExt as _, StreamExt as _, stream::SplitSink};
use shared::Shared;
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
    task::JoinSet,
};
use tokio_util::codec::Framed;

/// Requests that wait for the socket; callers wait when it is full.
const OUTBOX: usize = 32;

/// One connection to the daemon. Clones share it; requests on it run side by side; it closes with its last
/// clone.
#[derive(Clone)]
pub struct Client(Arc<Connection>);

struct Connection {
    codec: Codec,
    daemon: HelloReply,
    call_timeout: Duration,
    next_id: AtomicU64,
    outbox: mpsc::Sender<Vec<u8>>,
    shared: Arc<Shared>,
    /// Reader and writer; they end when the last clone of the client is dropped.
    _tasks: JoinSet<()>,
}

impl Client {
    pub(crate) fn start<S>(
        framed: Framed<S, Framing>,
        codec: Codec,
        daemon: HelloReply,
        call_timeout: Duration,
    ) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sink, stream) = framed.split();
        let (outbox, queue) = mpsc::channel(OUTBOX);
        let shared = Arc::new(Shared::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(reader::read(stream, codec, Arc::clone(&shared)));
        tasks.spawn(write(sink, queue, Arc::clone(&shared)));
        let connection = Connection {
            codec,
            daemon,
            call_timeout,
            next_id: AtomicU64::new(1),
            outbox,
            shared,
            _tasks: tasks,
        };
        Self(Arc::new(connection))
    }

    /// The daemon's reply to `hello`.
    #[must_use]
    pub fn daemon(&self) -> &HelloReply {
        &self.0.daemon
    }

    #[must_use]
    pub fn codec(&self) -> Codec {
        self.0.codec
    }

    /// Why the connection is closed, if it is.
    #[must_use]
    pub fn disconnected(&self) -> Option<Disconnect> {
        self.0.shared.disconnected()
    }

    /// The notifications that come from here on; earlier ones are dropped, so call this before subscribing.
    /// They must be read: when their buffer is full, the connection waits, replies too. A second call ends
    /// the first call's stream.
    #[must_use]
    pub fn notifications(&self) -> Notifications {
        self.0.shared.listen()
    }

    fn next_id(&self) -> u64 {
        self.0.next_id.fetch_add(1, Ordering::Relaxed)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("codec", &self.0.codec)
            .field("daemon", &self.0.daemon)
            .finish_non_exhaustive()
    }
}

async fn write<S>(
    mut sink: SplitSink<Framed<S, Framing>, Vec<u8>>,
    mut queue: mpsc::Receiver<Vec<u8>>,
    shared: Arc<Shared>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    while let Some(message) = queue.recv().await {
        if let Err(e) = sink.send(message).await {
            return shared.close(&Disconnect::Io(e.to_string()));
        }
    }
}

#[cfg(test)]
mod tests;
