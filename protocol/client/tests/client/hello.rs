use crate::peer::{self, CODECS, options, pair};
use abide_client::{
    Client, ConnectError, Options,
    protocol::{
        Error, ErrorKind,
        codec::{Codec, RequestId, json},
        hello::{BINCODE, HelloReply, JSON, MAX_HELLO},
    },
};
use abide_host::framing::Framing;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio_util::codec::Framed;

/// Connects to a daemon whose first line is this.
async fn answered(line: Vec<u8>, options: Options) -> Result<Client, ConnectError> {
    let (ours, theirs) = tokio::io::duplex(peer::SOCKET);
    let daemon = async {
        let mut framed = Framed::new(theirs, Framing::hello());
        framed.next().await.unwrap().unwrap();
        framed.send(line).await.unwrap();
        framed
    };
    let (client, _daemon) = tokio::join!(Client::connect_stream(ours, options), daemon);
    client
}

fn line(answer: &Result<HelloReply, Error>) -> Vec<u8> {
    json::encode_hello_reply(&RequestId::Number(0), answer).unwrap()
}

#[tokio::test]
async fn the_daemon_chooses_among_what_the_client_offers() {
    for codec in CODECS {
        let (client, _peer) = pair(options(codec)).await;
        assert_eq!(client.codec(), codec);
        assert_eq!(client.daemon().daemon.version, "9.9.9");
    }
    let client = answered(line(&Ok(peer::reply(JSON))), Options::new("test", "0.0.1")).await.unwrap();
    assert_eq!(client.codec(), Codec::Json);
}

#[tokio::test]
async fn a_refused_hello_carries_the_daemons_message() {
    let refused = |kind| line(&Err(Error::new(kind, "these are the daemon's words")));
    let json = || options(Codec::Json);
    let skew = answered(refused(ErrorKind::Unsupported), json()).await.unwrap_err();
    assert!(matches!(&skew, ConnectError::VersionSkew { client, .. } if client == "0.0.1"), "{skew:?}");
    assert!(skew.to_string().contains("these are the daemon's words") && !skew.is_transient(), "{skew}");

    let forbidden = answered(refused(ErrorKind::Forbidden), json()).await.unwrap_err();
    assert!(
        matches!(&forbidden, ConnectError::Refused(e) if e.kind() == ErrorKind::Forbidden),
        "{forbidden:?}"
    );
    assert!(!forbidden.is_transient());
    assert!(answered(refused(ErrorKind::ShuttingDown), json()).await.unwrap_err().is_transient());

    for reply in
        [peer::reply(BINCODE), peer::reply("bincode-77"), HelloReply { protocol: 99, ..peer::reply(JSON) }]
    {
        let skew = answered(line(&Ok(reply)), json()).await.unwrap_err();
        assert!(matches!(skew, ConnectError::VersionSkew { .. }), "{skew:?}");
    }
}

#[tokio::test]
async fn a_foreign_protocol_and_a_closed_connection_are_different_errors() {
    let json = || options(Codec::Json);
    let too_long = format!("{}\n", "x".repeat(MAX_HELLO + 1)).into_bytes();
    for garbage in
        [b"HTTP/1.1 400 Bad Request\r\n".to_vec(), b"\xff\xfe\n".to_vec(), b"{}\n".to_vec(), too_long]
    {
        let error = answered(garbage, json()).await.unwrap_err();
        assert!(matches!(error, ConnectError::Handshake(_)), "{error:?}");
    }
    let (ours, theirs) = tokio::io::duplex(peer::SOCKET);
    drop(theirs);
    let error = Client::connect_stream(ours, json()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Closed(_)) && error.is_transient(), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_silent_daemon_times_out() {
    let (ours, _theirs) = tokio::io::duplex(peer::SOCKET);
    let error = Client::connect_stream(ours, options(Codec::Json)).await.unwrap_err();
    assert!(matches!(error, ConnectError::Timeout(_)), "{error:?}");
}
