//! One connection: hello, then requests and replies in frames. While a client does not read its replies, its
//! requests are not read.

use super::headers;
use crate::{
    events::Outbox,
    service::{Caller, Line, Service},
};
use abide_fail_point::{Point, pass};
use abide_host::framing::Framing;
use abide_protocol::{
    Error, ErrorKind,
    codec::{Codec, Incoming, Outgoing, RequestId, json},
    hello::{self, HelloParams, HelloReply, MAX_FRAME, PeerInfo},
    limits::HELLO_TIME_MS,
    method::{Access, Reply},
    record::Via,
};
use bytes::BytesMut;
use futures_util::StreamExt as _;
use std::{io, pin::pin, sync::Arc, time::Duration};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio_util::codec::{Encoder as _, FramedRead};

const HELLO_TIME: Duration = Duration::from_millis(HELLO_TIME_MS);
/// How long a client may take to read what is left when its connection is closed.
const CLOSE_TIME: Duration = Duration::from_secs(5);
/// How long a refused client may go on writing.
const LINGER: Duration = Duration::from_millis(250);
/// How many bytes are encoded before they are written.
const CHUNK: usize = 64 * 1024;

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
                read_rest(requests).await;
            }
            return;
        }
        Ok(line) => greet(&line, allowed),
        Err(e) => (
            RequestId::Other("null".to_owned()),
            Err(Error::new(ErrorKind::TooLarge, format!("the first line: {e}"))),
        ),
    };
    let (reply, greeted) =
        answer.map(|(reply, greeted)| (Ok(reply), Some(greeted))).unwrap_or_else(|e| (Err(e), None));
    let Ok(bytes) = json::encode_hello_reply(&id, &reply) else { return };
    if write.write_all(&bytes).await.is_err() {
        return;
    }
    let Some(Greeted { codec, caller }) = greeted else {
        return read_rest(requests).await;
    };
    *requests.decoder_mut() = Framing::of(codec);
    let line = Line::open(service.clone(), caller);
    // Boxed: keeps this future small until hello.
    Box::pin(serve_requests(requests, write, Connection { codec, line, service })).await;
}

/// The result of a hello.
struct Greeted {
    codec: Codec,
    caller: Caller,
}

/// Ends a connection that was refused. What the client still writes is read first: if its write failed, it
/// would not read the refusal.
async fn read_rest<S: AsyncRead>(requests: FramedRead<ReadHalf<S>, Framing>) {
    let (mut rest, mut nowhere) = (requests.into_inner().take(MAX_FRAME as u64), tokio::io::sink());
    // The refusal is written already; the rest does not matter.
    let _ = tokio::time::timeout(LINGER, tokio::io::copy(&mut rest, &mut nowhere)).await;
}

/// Serves a connection after hello.
async fn serve_requests<S>(
    mut requests: FramedRead<ReadHalf<S>, Framing>,
    write: WriteHalf<S>,
    connection: Connection,
) where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let Connection { codec, line, service } = &connection;
    let writing = write_out(write, *codec, line.outbox().clone());
    let closing = line.closing().clone().drop_guard();
    service.supervisor.spawn("connection writer", async move {
        if let Err(e) = writing.await {
            tracing::debug!("a client went away: {e}");
        }
        drop(closing);
    });
    connection.read(&mut requests).await;
    connection.end().await;
}

fn greet(line: &[u8], allowed: Result<(), String>) -> (RequestId, Result<(HelloReply, Greeted), Error>) {
    let (id, hello) = json::decode_hello(line);
    let answer = hello.and_then(|hello| {
        allowed.map_err(|why| Error::new(ErrorKind::Forbidden, why))?;
        let codec = negotiate(&hello)?;
        let reply = HelloReply {
            protocol: hello::PROTOCOL,
            codec: codec.name().to_owned(),
            daemon: PeerInfo { name: "abided".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
            capabilities: vec!["search".to_owned()],
        };
        let caller = Caller { via: Via::Socket, name: hello.client.name, may: Access::Administer };
        Ok((reply, Greeted { codec, caller }))
    });
    (id, answer)
}

fn negotiate(hello: &HelloParams) -> Result<Codec, Error> {
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
    Ok(hello.codecs.iter().find_map(|name| Codec::named(name)).unwrap_or(Codec::Json))
}

/// A connection after hello.
struct Connection {
    codec: Codec,
    line: Arc<Line>,
    service: Service,
}

impl Connection {
    async fn read<R: AsyncRead + Unpin>(&self, requests: &mut FramedRead<R, Framing>) {
        let (outbox, closing) = (self.line.outbox(), self.line.closing());
        loop {
            let next = async {
                outbox.replies_fit().await;
                requests.next().await
            };
            let frame = tokio::select! {
                frame = next => frame,
                () = closing.cancelled() => return,
                () = self.service.supervisor.ending() => return,
            };
            match frame {
                None => {
                    // A script may have closed its half and still wait for replies; Abide's own clients close
                    // only when they go.
                    if self.codec == Codec::Binary {
                        self.line.caller_has_gone();
                    }
                    return;
                }
                Some(Ok(frame)) => incoming(self.codec, &self.line, &frame).await,
                Some(Err(e)) => {
                    if e.kind() == io::ErrorKind::InvalidData {
                        outbox.send(Outgoing::Error(Error::new(ErrorKind::TooLarge, e.to_string())));
                    } else {
                        self.line.caller_has_gone();
                    }
                    return;
                }
            }
        }
    }

    /// Sends the pending replies, then closes the connection.
    async fn end(&self) {
        self.line.end().await;
        self.line.outbox().close();
        self.line.closing().cancelled().await;
    }
}

/// Carries out the request in a frame. Its reply goes into the line's outbox.
pub(crate) async fn incoming(codec: Codec, line: &Arc<Line>, frame: &[u8]) {
    // An empty line is not a request.
    if codec == Codec::Json && frame.iter().all(u8::is_ascii_whitespace) {
        return;
    }
    let Incoming { id, request, warnings } = codec.decode_incoming(frame);
    if !warnings.is_empty() {
        tracing::info!(?warnings, "a client has sent what nothing reads");
    }
    let outbox = line.outbox().clone();
    match request {
        Ok(request) => {
            line.request(request, move |reply| answer(&outbox, id, reply, warnings)).await;
        }
        // Not even the id of the frame can be read, so the error names no request. (A JSON line without id is
        // a notification, which gets no reply.)
        Err(error) if id.is_none() && codec == Codec::Binary => outbox.send(Outgoing::Error(error)),
        Err(error) => answer(&outbox, id, Err(error), warnings),
    }
}

/// Sends the reply to a request, unless the request was a notification.
fn answer(outbox: &Outbox, id: Option<RequestId>, reply: Result<Reply, Error>, warnings: Vec<String>) {
    pass(Point::Acknowledge);
    if let Some(id) = id {
        outbox.send(Outgoing::Reply { id, reply, warnings });
    }
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

/// Encodes a message; one that cannot be encoded is replaced by an error that tells why.
pub(crate) fn encode(codec: Codec, outgoing: Outgoing) -> Vec<u8> {
    codec.encode_outgoing(&outgoing).unwrap_or_else(|e| {
        tracing::error!("a message could not be sent: {e}");
        let error = Error::new(ErrorKind::TooLarge, format!("the answer cannot be sent: {e}; ask for less"));
        let instead = match outgoing {
            Outgoing::Reply { id, warnings, .. } => Outgoing::Reply { id, reply: Err(error), warnings },
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
    fn a_codec_is_chosen_by_exact_name_and_json_is_the_fallback() {
        let hello = |min, max, codecs: &[&str]| HelloParams {
            protocol: ProtocolRange { min, max },
            codecs: codecs.iter().map(|c| (*c).to_owned()).collect(),
            client: PeerInfo::default(),
        };
        let codec = |codecs: &[&str]| negotiate(&hello(PROTOCOL, PROTOCOL, codecs)).unwrap().name();
        assert_eq!(codec(&[BINCODE, JSON]), BINCODE);
        assert_eq!(codec(&["bincode-999", JSON]), JSON);
        assert_eq!(codec(&["bincode-999"]), JSON);
        assert_eq!(codec(&[]), JSON);
        assert!(negotiate(&hello(PROTOCOL + 1, PROTOCOL + 9, &[JSON])).is_err());
        assert!(Parcel::Close.into_outgoing().is_none());
    }
}
