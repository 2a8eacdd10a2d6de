//! The daemon's side of a connection, controlled by the test.

use abide_client::{
    Client, ConnectError, Options,
    protocol::{
        Error, SubscriptionId,
        codec::{Codec, Outgoing, RequestId, json},
        hello::{HelloReply, PROTOCOL, PeerInfo},
        method::{Reply, Request, subscription::SubscribeParams, subscription::SubscribeReply},
        notification::{Notification, Snapshot},
    },
};
use abide_host::framing::Framing;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream},
    sync::mpsc,
};
use tokio_util::codec::Framed;

/// The buffer of the in-memory socket, in bytes.
pub(crate) const SOCKET: usize = 64 * 1024;
pub(crate) const CODECS: [Codec; 2] = [Codec::Binary, Codec::Json];

pub(crate) fn options(codec: Codec) -> Options {
    Options { codecs: vec![codec], ..Options::new("test", "0.0.1") }
}

pub(crate) struct Peer<S> {
    framed: Framed<S, Framing>,
    codec: Codec,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Peer<S> {
    /// Replies to `hello` as the daemon does: with the first codec that the client names.
    pub(crate) async fn accept(stream: S) -> Self {
        let mut framed = Framed::new(stream, Framing::hello());
        let line = framed.next().await.unwrap().unwrap();
        let (id, params) = json::decode_hello(&line);
        let codec = Codec::named(&params.unwrap().codecs[0]).unwrap();
        framed.send(json::encode_hello_reply(&id, &Ok(reply(codec.name()))).unwrap()).await.unwrap();
        *framed.codec_mut() = Framing::of(codec);
        Self { framed, codec }
    }

    /// The next request; `None` at the end of the connection.
    pub(crate) async fn request(&mut self) -> Option<(RequestId, Request)> {
        let bytes = self.framed.next().await?.unwrap();
        let incoming = self.codec.decode_incoming(&bytes);
        Some((incoming.id.unwrap(), incoming.request.unwrap()))
    }

    pub(crate) async fn send(&mut self, outgoing: &Outgoing) {
        self.raw(self.codec.encode_outgoing(outgoing).unwrap()).await;
    }

    pub(crate) async fn raw(&mut self, bytes: Vec<u8>) {
        self.framed.send(bytes).await.unwrap();
    }

    pub(crate) async fn reply(&mut self, id: RequestId, reply: Reply) {
        self.send(&Outgoing::Reply { id, reply: Ok(reply), warnings: Vec::new() }).await;
    }

    pub(crate) async fn refuse(&mut self, id: RequestId, error: Error) {
        self.send(&Outgoing::Reply { id, reply: Err(error), warnings: Vec::new() }).await;
    }

    pub(crate) async fn notify(&mut self, notification: Notification) {
        self.send(&Outgoing::Notification(notification)).await;
    }

    /// Waits for `subscribe` and replies with this snapshot.
    pub(crate) async fn subscribed(&mut self, snapshot: Snapshot) -> SubscribeParams {
        let (id, request) = self.request().await.unwrap();
        let Request::Subscribe(params) = request else { panic!("not a subscription: {request:?}") };
        let reply = SubscribeReply { subscription_id: SubscriptionId(1), snapshot };
        self.reply(id, Reply::Subscribe(reply)).await;
        params
    }

    /// Returns when the client has closed the connection.
    pub(crate) async fn gone(mut self) {
        assert_eq!(self.request().await, None);
    }
}

pub(crate) fn reply(codec: &str) -> HelloReply {
    HelloReply {
        protocol: PROTOCOL,
        codec: codec.to_owned(),
        daemon: PeerInfo { name: "abided".to_owned(), version: "9.9.9".to_owned() },
        capabilities: Vec::new(),
    }
}

/// A client and its daemon.
pub(crate) async fn pair(options: Options) -> (Client, Peer<DuplexStream>) {
    let (ours, theirs) = tokio::io::duplex(SOCKET);
    let (client, peer) = tokio::join!(Client::connect_stream(ours, options), Peer::accept(theirs));
    (client.unwrap(), peer)
}

/// Accepts the client's connections.
pub(crate) struct Listener(mpsc::Receiver<DuplexStream>);

impl Listener {
    pub(crate) async fn accept(&mut self) -> Peer<DuplexStream> {
        Peer::accept(self.0.recv().await.unwrap()).await
    }
}

type Connecting = std::pin::Pin<Box<dyn Future<Output = Result<Client, ConnectError>> + Send>>;

/// A connector, and the listener that gets its connections.
pub(crate) fn listen(codec: Codec) -> (impl FnMut() -> Connecting + Send + 'static, Listener) {
    let (sender, receiver) = mpsc::channel(1);
    let connect = move || {
        let sender = sender.clone();
        let connecting: Connecting = Box::pin(async move {
            let (ours, theirs) = tokio::io::duplex(SOCKET);
            sender.send(theirs).await.unwrap();
            Client::connect_stream(ours, options(codec)).await
        });
        connecting
    };
    (connect, Listener(receiver))
}
