//! `/ws`: a WebSocket is a line of its own. With the subprotocol `abide-rpc` it speaks JSON-RPC as the local
//! socket does, else one of two dialects of other clients.

mod agent_state;
mod dialect;
mod frame;
mod rpc;

use super::{
    answer::{Asker, Body, MAX_BODY, query},
    door::Stay,
    refusal::Refusal,
    session,
};
use crate::events::{Outbox, Parcel};
use abide_protocol::{ErrorKind, conversation::Conversation};
use bytes::Bytes;
use dialect::Dialect;
use futures_util::{SinkExt as _, StreamExt as _};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response,
    header::{AUTHORIZATION, HeaderMap, HeaderValue, SEC_WEBSOCKET_PROTOCOL},
    http::request::Parts,
    upgrade::{OnUpgrade, Upgraded},
};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::time::{Interval, MissedTickBehavior, timeout};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self, Message,
        handshake::server::create_response_with_body,
        protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode},
    },
};

const PATH: &str = "/ws";
/// The subprotocols: JSON-RPC, and a dialect of a client that has to offer one.
const PROTOCOLS: [&str; 2] = [RPC, "abide"];
const RPC: &str = "abide-rpc";
/// A subprotocol that is a token: a browser can send it no other way.
const BEARER: &str = "bearer.";
/// What a socket holds to read into while nothing comes, in bytes.
const READ_BUFFER: usize = 8 * 1024;
/// How often a client is sent a ping. It has to have answered before the next one but one.
const PING_TIME: Duration = Duration::from_secs(15);
/// The most pings of a client in that time.
const MAX_PINGS: u32 = 100;
/// How long a client may leave what it is sent unread.
const UNREAD_TIME: Duration = Duration::from_secs(30);
/// The longest reason that a close frame has room for, in bytes.
const MAX_REASON: usize = 123;
/// How long it may take to close.
const CLOSE_TIME: Duration = Duration::from_secs(2);

/// Puts a token that came as a subprotocol where other requests have theirs.
pub(super) fn authorize(head: &mut Parts) {
    if head.uri.path() != PATH || head.headers.contains_key(AUTHORIZATION) {
        return;
    }
    let tokens = offered(&head.headers).filter_map(|protocol| protocol.strip_prefix(BEARER));
    let bearers = tokens.map(|token| HeaderValue::from_str(&format!("Bearer {token}")));
    if let [Ok(bearer)] = &*bearers.collect::<Vec<_>>() {
        head.headers.insert(AUTHORIZATION, bearer.clone());
    }
}

/// The subprotocols that a request offers.
fn offered(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lists = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim)
}

/// What a client asks for with the request that opens its socket.
struct Opening {
    protocol: Option<&'static str>,
    dialect: Option<Dialect>,
    conversation: Option<Conversation>,
}

impl Opening {
    async fn of(asker: &Asker, head: &Parts) -> Result<Self, Refusal> {
        let protocol = offered(&head.headers).find_map(|one| PROTOCOLS.into_iter().find(|own| *own == one));
        let mut opening = Self { protocol, dialect: None, conversation: None };
        for (name, value) in query(&head.uri).into_owned() {
            match &*name {
                "dialect" => {
                    let unknown = || {
                        let words = format!("there is no dialect {value:?}: there are roa and state");
                        Refusal::new(ErrorKind::InvalidParams, words)
                    };
                    opening.dialect = Some(Dialect::named(&value).ok_or_else(unknown)?);
                }
                "conversation" => opening.conversation = Some(session::get(asker, &value).await?),
                _ => {}
            }
        }
        Ok(opening)
    }
}

/// Answers the request that opens a socket, and serves the socket.
pub(super) async fn open(asker: Asker, head: &Parts) -> Result<Response<Body>, Refusal> {
    let opening = Opening::of(&asker, head).await?;
    let request = Request::from_parts(head.clone(), ());
    let answered = create_response_with_body(&request, || Full::default().boxed_unsync());
    let mut response = answered.map_err(|e| {
        Refusal::new(ErrorKind::InvalidRequest, format!("{PATH} is for WebSocket clients: {e}"))
    })?;
    if let Some(protocol) = opening.protocol {
        response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(protocol));
    }
    let extensions = (head.extensions.get::<OnUpgrade>().cloned(), head.extensions.get::<Stay>().cloned());
    let (Some(upgrade), Some(stay)) = extensions else {
        return Err(Refusal::new(ErrorKind::Internal, "this connection cannot become a WebSocket"));
    };
    let supervisor = asker.service.supervisor.clone();
    supervisor.spawn("websocket", async move {
        match upgrade.await {
            Ok(upgraded) => Box::pin(serve(upgraded, asker, stay, opening)).await,
            Err(e) => tracing::debug!("a WebSocket did not come about: {e}"),
        }
    });
    Ok(response)
}

async fn serve(upgraded: Upgraded, asker: Asker, stay: Stay, opening: Opening) {
    let _closing = asker.line.closing().clone().drop_guard();
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .max_message_size(Some(MAX_BODY))
        .max_frame_size(Some(MAX_BODY));
    let stream = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await;
    let mut ping = tokio::time::interval(PING_TIME);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut socket = Socket { stream, ping, unanswered: 0, pings: 0 };
    let talk = async {
        match opening.protocol {
            Some(RPC) => rpc::talk(&mut socket, &asker.line).await,
            _ => dialect::talk(&mut socket, &asker, opening).await,
        }
    };
    let cut = tokio::select! {
        biased;
        () = asker.device.revoked.cancelled() => Cut::because(CloseCode::Policy, "the token was revoked"),
        () = stay.closing.cancelled() => Cut::because(CloseCode::Away, "this door was closed"),
        () = asker.service.supervisor.ending() => Cut::because(CloseCode::Away, "the daemon ends"),
        cut = talk => cut.err().unwrap_or(Cut::Gone),
    };
    socket.close(cut).await;
    // What was asked for is done all the same.
    asker.line.end().await;
}

/// Why a socket ends.
#[derive(Debug)]
enum Cut {
    /// The client has gone, or does not read.
    Gone,
    Because(CloseCode, String),
}

impl Cut {
    fn because(code: CloseCode, words: &str) -> Self {
        Self::Because(code, words.to_owned())
    }

    /// The client reads too slowly.
    fn behind() -> Self {
        Self::because(CloseCode::Again, "you read too slowly; connect again")
    }
}

impl From<tungstenite::Error> for Cut {
    fn from(error: tungstenite::Error) -> Self {
        use tungstenite::Error;
        match error {
            Error::Capacity(_) => {
                Self::Because(CloseCode::Size, format!("a message is over the limit of {MAX_BODY} bytes"))
            }
            Error::Utf8(_) => Self::because(CloseCode::Invalid, "a text is not UTF-8"),
            Error::Protocol(e) => Self::Because(CloseCode::Protocol, e.to_string()),
            _ => Self::Gone,
        }
    }
}

/// A socket, as both ways of speaking use it.
struct Socket {
    stream: WebSocketStream<TokioIo<Upgraded>>,
    ping: Interval,
    /// Pings of ours since anything has come.
    unanswered: u32,
    /// Pings of the client since the last one of ours.
    pings: u32,
}

/// What happens next.
enum Came {
    Text(String),
    Parcels(Vec<Parcel>),
}

impl Socket {
    /// Waits for the next text, or for parcels of the outbox. Nothing is lost if it is dropped.
    async fn next(&mut self, outbox: &Outbox) -> Result<Came, Cut> {
        loop {
            let read = async {
                outbox.replies_fit().await;
                self.stream.next().await
            };
            let message = tokio::select! {
                parcels = outbox.take() => return Ok(Came::Parcels(parcels)),
                message = read => message.ok_or(Cut::Gone)??,
                _ = self.ping.tick() => {
                    self.unanswered += 1;
                    self.pings = 0;
                    if self.unanswered > 2 {
                        return Err(Cut::because(CloseCode::Policy, "no ping was answered"));
                    }
                    self.put(Message::Ping(Bytes::new())).await?;
                    continue;
                }
            };
            self.unanswered = 0;
            match message {
                Message::Text(text) => return Ok(Came::Text(text.as_str().to_owned())),
                Message::Binary(_) => {
                    return Err(Cut::because(CloseCode::Unsupported, "frames are text: JSON"));
                }
                Message::Close(_) => return Err(Cut::Gone),
                Message::Ping(_) => {
                    self.pings += 1;
                    if self.pings > MAX_PINGS {
                        return Err(Cut::because(CloseCode::Policy, "these are too many pings"));
                    }
                }
                Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }

    async fn send(&mut self, text: String) -> Result<(), Cut> {
        self.put(Message::Text(text.into())).await
    }

    async fn put(&mut self, message: Message) -> Result<(), Cut> {
        match timeout(UNREAD_TIME, self.stream.send(message)).await {
            Ok(sent) => Ok(sent?),
            Err(_) => Err(Cut::Gone),
        }
    }

    /// Says why, and closes.
    async fn close(mut self, cut: Cut) {
        let frame = match cut {
            Cut::Gone => None,
            Cut::Because(code, words) => {
                tracing::debug!("a WebSocket is cut: {words}");
                let reason = words[..words.floor_char_boundary(MAX_REASON)].into();
                Some(CloseFrame { code, reason })
            }
        };
        let closing = async {
            // It is over either way.
            let _ = self.stream.close(frame).await;
            let ended = loop {
                match self.stream.next().await {
                    Some(Ok(_)) => {}
                    ended => break ended,
                }
            };
            // A client that still writes would not read why.
            if ended.is_some() {
                let _ = tokio::io::copy(self.stream.get_mut(), &mut tokio::io::sink()).await;
            }
        };
        let _ = timeout(CLOSE_TIME, closing).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_taken_from_a_subprotocol_of_a_socket_alone() {
        let table = [
            (PATH, &["abide, bearer.t"][..], None, Some("Bearer t")),
            (PATH, &["abide-rpc", "bearer.t"], None, Some("Bearer t")),
            (PATH, &["bearer.t"], Some("Bearer own"), Some("Bearer own")),
            (PATH, &["bearer.t, bearer.u"], None, None),
            (PATH, &["abide"], None, None),
            ("/api/sessions", &["bearer.t"], None, None),
        ];
        for (path, protocols, own, expected) in table {
            let mut request = Request::get(path).body(()).unwrap();
            for protocol in protocols {
                request.headers_mut().append(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(protocol));
            }
            if let Some(own) = own {
                request.headers_mut().insert(AUTHORIZATION, HeaderValue::from_static(own));
            }
            let mut head = request.into_parts().0;
            authorize(&mut head);
            let found = head.headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap());
            assert_eq!(found, expected, "{path} {protocols:?}");
        }
    }
}
