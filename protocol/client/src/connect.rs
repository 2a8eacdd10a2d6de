use crate::{Options, autostart::StartError, client::Client};
use abide_host::{
    framing::Framing,
    home::{self, Home, HomeError, NAMED_SOCKET},
};
use abide_protocol::{
    Error, ErrorKind,
    codec::{Codec, EncodeError, json},
    hello::{HelloParams, HelloReply, PROTOCOL, PeerInfo, ProtocolRange},
};
use futures_util::{SinkExt as _, StreamExt as _};
use interprocess::local_socket::{
    GenericFilePath,
    tokio::{Stream, prelude::*},
};
use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::codec::Framed;

/// Why connecting failed.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("no daemon is running (nobody listens at {socket}); start it with `abide daemon start`", socket = socket.display())]
    NotRunning { socket: PathBuf },
    #[error("nobody listens at {socket}, which {NAMED_SOCKET} names", socket = socket.display())]
    NobodyListens { socket: PathBuf },
    #[error("the daemon refused the connection: {0}")]
    Refused(Error),
    #[error(
        "this client (version {client}) and the running daemon have no protocol in common: {detail}; install the same version of \
         both, then run `abide daemon restart`"
    )]
    VersionSkew { client: String, detail: String },
    #[error("cannot connect to {socket}: {source}", socket = socket.display())]
    Io { socket: PathBuf, source: io::Error },
    #[error("the daemon closed the connection before it answered; it may be stopping: {0}")]
    Closed(String),
    #[error("what listens there does not speak as an Abide daemon does: {0}")]
    Handshake(String),
    #[error("the daemon did not answer within {} ms; see `abide daemon logs`", .0.as_millis())]
    Timeout(Duration),
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error(transparent)]
    Start(#[from] StartError),
}

impl ConnectError {
    /// Whether a later attempt may succeed without anybody's help.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::NotRunning { .. }
            | Self::NobodyListens { .. }
            | Self::Io { .. }
            | Self::Closed(_)
            | Self::Timeout(_) => true,
            Self::Refused(error) => error.data.retryable,
            Self::Start(error) => matches!(error, StartError::Deadline { .. }),
            Self::VersionSkew { .. } | Self::Handshake(_) | Self::Home(_) => false,
        }
    }
}

impl Client {
    /// Connects to the running daemon of this home, or to the socket of the options.
    ///
    /// # Errors
    /// Nobody listens, or there is no common protocol or codec.
    pub async fn connect(home: &Home, options: Options) -> Result<Self, ConnectError> {
        let limit = options.connect_timeout;
        let connected = async {
            let stream = match &options.socket {
                Some(socket) => open(socket).await.map_err(|error| match error {
                    ConnectError::NotRunning { socket } => ConnectError::NobodyListens { socket },
                    other => other,
                })?,
                None => find(home).await?,
            };
            Self::handshake(stream, options).await
        };
        tokio::time::timeout(limit, connected).await.unwrap_or(Err(ConnectError::Timeout(limit)))
    }

    /// Says hello on a stream that the caller has connected.
    ///
    /// # Errors
    /// No common protocol or codec.
    pub async fn connect_stream<S>(stream: S, options: Options) -> Result<Self, ConnectError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let limit = options.connect_timeout;
        tokio::time::timeout(limit, Self::handshake(stream, options))
            .await
            .unwrap_or(Err(ConnectError::Timeout(limit)))
    }

    async fn handshake<S>(stream: S, options: Options) -> Result<Self, ConnectError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut framed = Framed::new(stream, Framing::hello());
        let (codec, daemon) = hello(&mut framed, &options).await?;
        *framed.codec_mut() = Framing::of(codec);
        Ok(Self::start(framed, codec, daemon, options.call_timeout))
    }
}

/// The socket that this environment names, else the one in the lock file: a cron job has no
/// `XDG_RUNTIME_DIR`.
async fn find(home: &Home) -> Result<Stream, ConnectError> {
    let expected = home.socket();
    if let Ok(socket) = &expected {
        match open(socket).await {
            Err(ConnectError::NotRunning { .. }) => {}
            other => return other,
        }
    }
    // A lock file that cannot be read is left to the next daemon.
    match home::running(home).ok().flatten() {
        Some(running) if expected.as_ref().ok() != Some(&running.socket) => open(&running.socket).await,
        _ => Err(ConnectError::NotRunning { socket: expected? }),
    }
}

async fn open(socket: &Path) -> Result<Stream, ConnectError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            ConnectError::NotRunning { socket: socket.to_path_buf() }
        }
        _ => ConnectError::Io { socket: socket.to_path_buf(), source },
    };
    let name = socket.to_fs_name::<GenericFilePath>().map_err(failed)?;
    Stream::connect(name).await.map_err(failed)
}

async fn hello<S>(
    framed: &mut Framed<S, Framing>,
    options: &Options,
) -> Result<(Codec, HelloReply), ConnectError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let params = HelloParams {
        protocol: ProtocolRange { min: PROTOCOL, max: PROTOCOL },
        codecs: options.codecs.iter().map(|codec| codec.name().to_owned()).collect(),
        client: PeerInfo { name: options.name.clone(), version: options.version.clone() },
    };
    let line =
        json::encode_hello(&params).map_err(|e: EncodeError| ConnectError::Handshake(e.to_string()))?;
    let broken = |e: io::Error| match e.kind() {
        io::ErrorKind::InvalidData => ConnectError::Handshake(e.to_string()),
        _ => ConnectError::Closed(e.to_string()),
    };
    framed.send(line).await.map_err(broken)?;
    let Some(line) = framed.next().await.transpose().map_err(broken)? else {
        return Err(ConnectError::Closed("end of stream".to_owned()));
    };
    let skew = |detail: String| ConnectError::VersionSkew { client: options.version.clone(), detail };
    match json::decode_hello_reply(&line) {
        Err(e) => Err(ConnectError::Handshake(e.to_string())),
        Ok(Err(error)) if error.kind() == ErrorKind::Unsupported => Err(skew(error.message)),
        Ok(Err(error)) => Err(ConnectError::Refused(error)),
        Ok(Ok(reply)) if reply.protocol != PROTOCOL => {
            Err(skew(format!("the daemon ({}) chose protocol {}", reply.daemon.version, reply.protocol)))
        }
        Ok(Ok(reply)) => match Codec::named(&reply.codec).filter(|c| options.codecs.contains(c)) {
            Some(codec) => Ok((codec, reply)),
            None => Err(skew(format!("the daemon ({}) chose codec {:?}", reply.daemon.version, reply.codec))),
        },
    }
}
