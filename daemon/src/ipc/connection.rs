//! One connection: hello, then requests in order. What takes long (asking providers, waiting for room on a full disk) does not hold
//! up the rest; a client that does not read what it asked for is asked for nothing more.

use super::{
    Service, handlers, headers, shutdown,
    subscription::{self, Subscriptions},
};
use crate::events::{Focus, Outbox};
use abide_client::framing::Framing;
use abide_fail_point::{Point, pass};
use abide_protocol::{
    Error, ErrorKind,
    codec::{Codec, Incoming, Outgoing, RequestId, json},
    hello::{self, HelloParams, HelloReply, MAX_FRAME, PeerInfo},
    limits::{HELLO_TIME_MS, MAX_REQUESTS, MAX_URGENT_REQUESTS},
    method::{Reply, Request},
};
use bytes::BytesMut;
use futures_util::StreamExt as _;
use std::{
    future::Future,
    io,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio_util::{
    codec::{Encoder as _, FramedRead},
    sync::CancellationToken,
    task::TaskTracker,
};

const HELLO_TIME: Duration = Duration::from_millis(HELLO_TIME_MS);
/// How long a client that is being closed may take to read what is left.
const CLOSE_TIME: Duration = Duration::from_secs(5);
/// How long a client that was refused may go on writing.
const LINGER: Duration = Duration::from_millis(250);
/// How long a request keeps those after it waiting.
const PATIENCE: Duration = Duration::from_millis(100);
/// What is encoded before it is written, in bytes.
const CHUNK: usize = 64 * 1024;

/// What a connection has beside its stream.
pub(super) struct Connection {
    pub(super) service: Service,
    pub(super) outbox: Outbox,
    /// Ends what the connection has spawned.
    pub(super) closing: CancellationToken,
    pub(super) subscriptions: Mutex<Subscriptions>,
    pub(super) focus: Mutex<Option<Focus>>,
    /// Requests that have no reply yet.
    pending: TaskTracker,
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
        Ok(line) if json::is_header(&line) => {
            let refusal = tokio::time::timeout(HELLO_TIME, headers::refusal(&line, &mut requests)).await;
            if let Ok(Ok(refusal)) = refusal
                && write.write_all(&refusal).await.is_ok()
            {
                part(requests).await;
            }
            return;
        }
        Ok(line) => greet(&line, allowed),
        Err(e) => (
            RequestId::Other("null".to_owned()),
            Err(Error::new(ErrorKind::TooLarge, format!("the first line: {e}"))),
        ),
    };
    let Ok(bytes) = json::encode_hello_reply(&id, &answer) else { return };
    if write.write_all(&bytes).await.is_err() {
        return;
    }
    let Some(codec) = answer.ok().and_then(|reply| Codec::named(&reply.codec)) else {
        return part(requests).await;
    };
    *requests.decoder_mut() = Framing::of(codec);
    // Boxed: what has not said hello yet is not to cost what one that has may need.
    Box::pin(converse(requests, write, codec, service)).await;
}

/// Ends a connection that was refused. A client that still writes would not read why if its writing failed.
async fn part<S: AsyncRead>(requests: FramedRead<ReadHalf<S>, Framing>) {
    let (mut rest, mut nowhere) = (requests.into_inner().take(MAX_FRAME as u64), tokio::io::sink());
    // It has been told; how its writing goes on does not matter.
    let _ = tokio::time::timeout(LINGER, tokio::io::copy(&mut rest, &mut nowhere)).await;
}

/// After hello.
async fn converse<S>(
    mut requests: FramedRead<ReadHalf<S>, Framing>,
    write: WriteHalf<S>,
    codec: Codec,
    service: Service,
) where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let connection = Arc::new(Connection {
        outbox: Outbox::default(),
        closing: CancellationToken::new(),
        subscriptions: Mutex::default(),
        focus: Mutex::default(),
        pending: TaskTracker::new(),
        service,
    });
    let writing = write_out(write, codec, connection.outbox.clone());
    let closing = connection.closing.clone().drop_guard();
    connection.service.supervisor.spawn("connection writer", async move {
        if let Err(e) = writing.await {
            tracing::debug!("a client went away: {e}");
        }
        drop(closing);
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
        capabilities: vec!["search".to_owned()],
    })
}

impl Connection {
    async fn read<R: AsyncRead + Unpin>(
        self: &Arc<Self>,
        codec: Codec,
        requests: &mut FramedRead<R, Framing>,
    ) {
        loop {
            let next = async {
                self.outbox.replies_fit().await;
                requests.next().await
            };
            let frame = tokio::select! {
                frame = next => frame,
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
            Ok(Request::Subscribe(params)) => {
                let work = subscription::begin(self.clone(), id.clone(), params);
                self.carry_out(id, MAX_REQUESTS, work).await;
            }
            Ok(Request::Shutdown(params)) => {
                let work = shutdown::shutdown(self.clone(), id.clone(), params);
                self.carry_out(id, MAX_URGENT_REQUESTS, work).await;
            }
            Ok(request) => {
                let most = if is_urgent(&request) { MAX_URGENT_REQUESTS } else { MAX_REQUESTS };
                let (connection, asked) = (self.clone(), id.clone());
                let work = async move {
                    let reply = handlers::handle(&connection, request).await;
                    connection.answer(asked, reply.map_err(Into::into));
                };
                self.carry_out(id, most, work).await;
            }
            // A frame of which not even the id can be read; in JSON a notification, which is not answered.
            Err(error) if id.is_none() && codec == Codec::Binary => self.outbox.send(Outgoing::Error(error)),
            Err(error) => self.answer(id, Err(error)),
        }
    }

    /// Answers a request, unless it was a notification.
    pub(super) fn answer(&self, id: Option<RequestId>, reply: Result<Reply, Error>) {
        pass(Point::Acknowledge);
        if let Some(id) = id {
            self.outbox.send(Outgoing::Reply { id, reply });
        }
    }

    /// Does a request's work, which answers it; after a while beside what follows.
    async fn carry_out(
        &self,
        id: Option<RequestId>,
        most: usize,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        if self.pending.len() >= most {
            let words = format!("{most} requests of this connection are under way; wait for one");
            return self.answer(id, Err(Error::new(ErrorKind::Overloaded, words)));
        }
        let mut work = Box::pin(self.pending.track_future(work));
        if tokio::time::timeout(PATIENCE, &mut work).await.is_err() {
            let closing = self.closing.clone();
            self.service.supervisor.spawn("request", async move {
                closing.run_until_cancelled(work).await;
            });
        }
    }

    /// Pending replies are sent, then the connection is closed.
    async fn end(&self) {
        self.pending.close();
        tokio::select! {
            () = self.pending.wait() => {}
            () = self.service.supervisor.ending() => {}
        }
        drop(self.focus.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.outbox.close();
        self.closing.cancelled().await;
    }
}

/// Stops and answers are not refused because other requests take long.
const fn is_urgent(request: &Request) -> bool {
    matches!(request, Request::StopTask(_) | Request::UserResponse(_) | Request::DecideApproval(_))
}

async fn write_out<S: AsyncWrite>(mut write: WriteHalf<S>, codec: Codec, outbox: Outbox) -> io::Result<()> {
    let mut framing = Framing::of(codec);
    let mut buffer = BytesMut::new();
    let mut cut = pin!(async {
        outbox.closed().await;
        tokio::time::sleep(CLOSE_TIME).await;
    });
    loop {
        let mut last = false;
        let mut parcels = outbox.take().await.into_iter().peekable();
        while let Some(parcel) = parcels.next() {
            match parcel.into_outgoing() {
                Some(outgoing) => framing.encode(encode(codec, outgoing), &mut buffer)?,
                None => last = true,
            }
            if buffer.len() < CHUNK && parcels.peek().is_some() {
                continue;
            }
            tokio::select! {
                written = write.write_all(&buffer) => written?,
                () = &mut cut => return Err(io::ErrorKind::TimedOut.into()),
            }
            buffer.clear();
        }
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
