use super::Client;
use abide_host::framing::Framing;
use abide_protocol::{
    codec::Codec,
    hello::{HelloReply, PeerInfo},
    method::{Status, daemon::StatusParams},
};
use std::time::Duration;
use tokio_util::codec::Framed;

#[tokio::test(start_paused = true)]
async fn a_dropped_call_leaves_no_entry() {
    let (ours, _theirs) = tokio::io::duplex(1024);
    let daemon = HelloReply {
        protocol: 1,
        codec: Codec::Json.name().to_owned(),
        daemon: PeerInfo::default(),
        capabilities: Vec::new(),
    };
    let framed = Framed::new(ours, Framing::of(Codec::Json));
    let client = Client::start(framed, Codec::Json, daemon, Duration::from_secs(1));
    let asking = client.call::<Status>(StatusParams::default());
    assert!(tokio::time::timeout(Duration::from_millis(1), asking).await.is_err());
    assert_eq!(client.0.shared.awaited(), 0, "dropped");
    client.call::<Status>(StatusParams::default()).await.unwrap_err();
    assert_eq!(client.0.shared.awaited(), 0, "timed out");
}
