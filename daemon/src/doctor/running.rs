//! Asks the daemon that runs, one request after the other.

use abide_host::{
    framing::Framing,
    home::{self, Home},
};
use abide_protocol::{
    codec::{Codec, Received, json},
    hello::{HelloParams, PROTOCOL, PeerInfo, ProtocolRange},
    method::Method,
};
use futures_util::{SinkExt as _, StreamExt as _};
use interprocess::local_socket::{
    GenericFilePath,
    tokio::{Stream, prelude::*},
};
use std::{io, time::Duration};
use tokio_util::codec::Framed;

/// How long the daemon may take to answer: listing the models of providers takes longest.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to the daemon that holds this home's lock.
pub(super) struct RunningDaemon(Framed<Stream, Framing>);

/// Why the daemon did not answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum AskError {
    #[error("nobody listens at its socket")]
    NotListening,
    #[error("{0}")]
    Refused(abide_protocol::Error),
    #[error("it closed the connection")]
    Closed,
    #[error("it did not answer within {} s", PATIENCE.as_secs())]
    Silent,
    #[error("it does not speak as this program does: {0}")]
    Unreadable(String),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl RunningDaemon {
    /// Connects and says hello.
    pub(super) async fn connect(home: &Home) -> Result<Self, AskError> {
        // The lock file names the socket, whatever this shell's XDG_RUNTIME_DIR is.
        let running = home::running(home).ok().flatten().ok_or(AskError::NotListening)?;
        let connected = Stream::connect(running.socket.as_path().to_fs_name::<GenericFilePath>()?).await;
        let stream = connected.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => AskError::NotListening,
            _ => AskError::Io(error),
        })?;
        let mut daemon = Self(Framed::new(stream, Framing::hello()));
        let hello = json::encode_hello(&HelloParams {
            protocol: ProtocolRange { min: PROTOCOL, max: PROTOCOL },
            codecs: vec![Codec::Json.name().to_owned()],
            client: PeerInfo {
                name: "abided-doctor".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
        });
        let line = daemon.exchange(hello.map_err(unreadable)?).await?;
        json::decode_hello_reply(&line).map_err(unreadable)?.map_err(AskError::Refused)?;
        *daemon.0.codec_mut() = Framing::of(Codec::Json);
        Ok(daemon)
    }

    pub(super) async fn call<M: Method>(&mut self, params: M::Params) -> Result<M::Reply, AskError> {
        let request = Codec::Json.encode_request(1, &M::request(params)).map_err(unreadable)?;
        let line = self.exchange(request).await?;
        match Codec::Json.decode_received(&line).map_err(unreadable)? {
            Received::Reply { body, .. } => M::reply(&body.map_err(AskError::Refused)?).map_err(unreadable),
            Received::Error(error) => Err(AskError::Refused(error)),
            // Without a subscription nothing else is sent.
            Received::Notification(_) | Received::Unknown => Err(unreadable("no reply")),
        }
    }

    async fn exchange(&mut self, message: Vec<u8>) -> Result<Vec<u8>, AskError> {
        let exchange = async {
            self.0.send(message).await?;
            let line = self.0.next().await.ok_or(AskError::Closed)??;
            Ok(line.to_vec())
        };
        tokio::time::timeout(PATIENCE, exchange).await.unwrap_or(Err(AskError::Silent))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn unreadable(error: impl ToString) -> AskError {
    AskError::Unreadable(error.to_string())
}
