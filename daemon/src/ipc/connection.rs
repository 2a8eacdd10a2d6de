//! One connection: hello, then requests in order. What is slow (asking providers, catching up) does not hold up the rest.

use super::{Service, handlers};
use crate::events::{Focus, Outbox};
use abide_client::framing::Framing;
use abide_protocol::{
    Error, ErrorKind, SubscriptionId,
    codec::{Codec, Incoming, Outgoing, RequestId, json},
    hello::{self, HelloParams, HelloReply, PeerInfo},
    method::{Reply, Request},
};
use bytes::BytesMut;
use futures_util::StreamExt as _;
use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, WriteHalf};
use tokio_util::{
    codec::{Encoder as _, FramedRead},
    sync::CancellationToken,
    task::TaskTracker,
};

/// How long a client may take to say hello.
const HELLO_TIME: Duration = Duration::from_secs(5);
/// How long a client that is being closed may take to read what is left.
const CLOSE_TIME: Duration = Duration::from_secs(5);
/// Slow requests of one connection under way at a time.
const MAX_SLOW: usize = 16;

/// What a connection has beside its stream.
pub(super) struct Connection {
    pub(super) service: Service,
    pub(super) outbox: Outbox,
    /// Ends what the connection has spawned.
    pub(super) closing: CancellationToken,
    pub(super) subscriptions: Mutex<HashMap<SubscriptionId, CancellationToken>>,
    pub(super) focus: Mutex<Option<Focus>>,
    slow: TaskTracker,
}

/// Serves a connection to its end.
pub(super) async fn serve<S>(stream: S, allowed: Result<(), String>, service: Service)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (read, mut write) = tokio::io::split(stream);
    let mut requests = FramedRead::new(read, Framing::hello());
    let hello = tokio::select! {
        hello = tokio::time::timeout(HELLO_TIME, requests.next()) => hello,
        () = service.supervisor.ending() => return,
    };
    let Ok(Some(hello)) = hello else { return };
    let (id, answer) = match hello {
        Ok(line) => greet(&line, allowed),
        Err(e) => (RequestId::Other("null".to_owned()), Err(Error::new(ErrorKind::TooLarge, format!("the first line: {e}")))),
    };
    let Ok(bytes) = json::encode_hello_reply(&id, &answer) else { return };
    if write.write_all(&bytes).await.is_err() {
        return;
    }
    let Some(codec) = answer.ok().and_then(|reply| Codec::named(&reply.codec)) else { return };
    *requests.decoder_mut() = Framing::of(codec);

    let connection = Arc::new(Connection {
        outbox: Outbox::default(),
        closing: CancellationToken::new(),
        subscriptions: Mutex::default(),
        focus: Mutex::default(),
        slow: TaskTracker::new(),
        service,
    });
    let writing = write_out(write, codec, connection.outbox.clone());
    let closing = connection.closing.clone();
    connection.service.supervisor.spawn("connection writer", async move {
        if let Err(e) = writing.await {
            tracing::debug!("a client went away: {e}");
        }
        closing.cancel();
    });
    connection.read(codec, &mut requests).await;
    connection.end().await;
}

fn greet(line: &[u8], allowed: Result<(), String>) -> (RequestId, Result<HelloReply, Error>) {
    let (id, hello) = json::decode_hello(line);
    let answer = hello.and_then(|hello| match allowed {
        Ok(()) => negotiate(&hello),
        Err(why) => Err(Error::new(ErrorKind::Forbidden, why)),
    });
    (id, answer)
}

fn negotiate(hello: &HelloParams) -> Result<HelloReply, Error> {
    if !(hello.protocol.min..=hello.protocol.max).contains(&hello::PROTOCOL) {
        let words = format!(
            "the daemon (version {}) speaks protocol {}, the client {} to {}; bring both to the same version",
            env!("CARGO_PKG_VERSION"),
            hello::PROTOCOL,
            hello.protocol.min,
            hello.protocol.max
        );
        return Err(Error::new(ErrorKind::Unsupported, words));
    }
    let codec = hello.codecs.iter().find_map(|name| Codec::named(name)).unwrap_or(Codec::Json);
    Ok(HelloReply {
        protocol: hello::PROTOCOL,
        codec: codec.name().to_owned(),
        daemon: PeerInfo { name: "abided".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        capabilities: Vec::new(),
    })
}

impl Connection {
    async fn read<R: AsyncRead + Unpin>(self: &Arc<Self>, codec: Codec, requests: &mut FramedRead<R, Framing>) {
        loop {
            let frame = tokio::select! {
                frame = requests.next() => frame,
                () = self.closing.cancelled() => return,
                () = self.service.supervisor.ending() => return,
            };
            match frame {
                None => return,
                Some(Ok(frame)) => self.incoming(codec, &frame).await,
                Some(Err(e)) => {
                    if e.kind() == io::ErrorKind::InvalidData {
                        self.outbox.send(Outgoing::Error(Error::new(ErrorKind::TooLarge, e.to_string())));
                    }
                    return;
                }
            }
        }
    }

    async fn incoming(self: &Arc<Self>, codec: Codec, frame: &BytesMut) {
        // An empty line between requests is no request.
        if codec == Codec::Json && frame.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let Incoming { id, request } = codec.decode_incoming(frame);
        match request {
            Ok(request @ (Request::ListModels(_) | Request::SetKey(_))) => self.spawn(id, request),
            Ok(Request::Subscribe(params)) => super::subscription::begin(self, id, params),
            Ok(request) => {
                let reply = handlers::handle(self, request).await;
                self.answer(id, reply);
            }
            Err(error) => self.answer(id, Err(error)),
        }
    }

    /// Answers a request, unless it was a notification.
    pub(super) fn answer(&self, id: Option<RequestId>, reply: Result<Reply, Error>) {
        if let Some(id) = id {
            self.outbox.send(Outgoing::Reply { id, reply });
        }
    }

    fn spawn(self: &Arc<Self>, id: Option<RequestId>, request: Request) {
        if self.slow.len() >= MAX_SLOW {
            let words = format!("{MAX_SLOW} requests like this are under way on this connection; wait for one");
            return self.answer(id, Err(Error::new(ErrorKind::Overloaded, words)));
        }
        let connection = self.clone();
        let work = self.slow.track_future(async move {
            let reply = tokio::select! {
                reply = handlers::handle(&connection, request) => reply,
                () = connection.closing.cancelled() => return,
            };
            connection.answer(id, reply);
        });
        self.service.supervisor.spawn("request", work);
    }

    /// Pending replies are sent, then the connection is closed.
    async fn end(&self) {
        self.slow.close();
        tokio::select! {
            () = self.slow.wait() => {}
            () = self.service.supervisor.ending() => {}
        }
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner).clear();
        drop(self.focus.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.outbox.close();
        self.closing.cancelled().await;
    }
}

async fn write_out<S: AsyncWrite>(mut write: WriteHalf<S>, codec: Codec, outbox: Outbox) -> io::Result<()> {
    let mut framing = Framing::of(codec);
    let mut buffer = BytesMut::new();
    loop {
        let mut last = false;
        for parcel in outbox.take().await {
            match parcel.into_outgoing() {
                Some(outgoing) => framing.encode(encode(codec, outgoing), &mut buffer)?,
                None => last = true,
            }
        }
        let cut = async {
            outbox.closed().await;
            tokio::time::sleep(CLOSE_TIME).await;
        };
        tokio::select! {
            written = write.write_all(&buffer) => written?,
            () = cut => return Err(io::ErrorKind::TimedOut.into()),
        }
        buffer.clear();
        if last {
            return write.shutdown().await;
        }
    }
}

/// What cannot be sent is answered by why.
fn encode(codec: Codec, outgoing: Outgoing) -> Vec<u8> {
    codec.encode_outgoing(&outgoing).unwrap_or_else(|e| {
        tracing::error!("a message could not be sent: {e}");
        let error = Error::new(ErrorKind::TooLarge, format!("the answer cannot be sent: {e}; ask for less"));
        let instead = match outgoing {
            Outgoing::Reply { id, .. } => Outgoing::Reply { id, reply: Err(error) },
            Outgoing::Error(_) | Outgoing::Notification(_) => Outgoing::Error(error),
        };
        codec.encode_outgoing(&instead).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::negotiate;
    use crate::events::Parcel;
    use abide_protocol::hello::{BINCODE, HelloParams, JSON, PROTOCOL, PeerInfo, ProtocolRange};

    #[test]
    fn a_codec_is_chosen_by_exact_name_and_else_it_is_json() {
        let hello = |min, max, codecs: &[&str]| HelloParams {
            protocol: ProtocolRange { min, max },
            codecs: codecs.iter().map(|c| (*c).to_owned()).collect(),
            client: PeerInfo::default(),
        };
        let codec = |codecs: &[&str]| negotiate(&hello(PROTOCOL, PROTOCOL, codecs)).unwrap().codec;
        assert_eq!(codec(&[BINCODE, JSON]), BINCODE);
        assert_eq!(codec(&["bincode-999", JSON]), JSON);
        assert_eq!(codec(&["bincode-999"]), JSON);
        assert_eq!(codec(&[]), JSON);
        assert!(negotiate(&hello(PROTOCOL + 1, PROTOCOL + 9, &[JSON])).is_err());
        assert!(Parcel::Close.into_outgoing().is_none());
    }
}
