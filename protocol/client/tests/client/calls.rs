use crate::{
    peer::{CODECS, options, pair},
    things::{delta, id, task_message},
};
use abide_client::{
    CallError, Client, Disconnect, Options,
    protocol::{
        Error, ErrorKind,
        codec::Codec,
        method::{
            Focus, GetTask, Reply, Request,
            conversation::{FocusParams, FocusReply},
            task::GetTaskParams,
        },
        notification::{DeltaItem, DeltaKind, Notification},
    },
};
use std::time::Duration;

async fn focus(client: &Client, n: u64) -> Result<FocusReply, CallError> {
    client.call::<Focus>(FocusParams { conversation_id: Some(id(n)), inbox: false }).await
}

fn echo(request: &Request) -> Reply {
    let Request::Focus(FocusParams { conversation_id, .. }) = request else { panic!("{request:?}") };
    Reply::Focus(FocusReply { conversation_id: *conversation_id, inbox: false })
}

#[tokio::test]
async fn replies_in_any_order_reach_their_callers() {
    for codec in CODECS {
        let (client, mut peer) = pair(options(codec)).await;
        let other = client.clone();
        let daemon = async {
            let first = peer.request().await.unwrap();
            let second = peer.request().await.unwrap();
            for (id, request) in [second, first] {
                peer.reply(id, echo(&request)).await;
            }
        };
        let (one, two, ()) = tokio::join!(focus(&client, 1), focus(&other, 2), daemon);
        assert_eq!(one.unwrap().conversation_id, Some(id(1)), "{codec:?}");
        assert_eq!(two.unwrap().conversation_id, Some(id(2)), "{codec:?}");
    }
}

#[tokio::test]
async fn a_refusal_reaches_the_caller_whole() {
    for codec in CODECS {
        let (client, mut peer) = pair(options(codec)).await;
        let refusal = Error::new(ErrorKind::Ambiguous, "two tasks end in beef").about("beef");
        let daemon = async {
            let (id, _) = peer.request().await.unwrap();
            peer.refuse(id, refusal.clone()).await;
        };
        let params = GetTaskParams { task_id: "beef".to_owned(), history: false };
        let (answer, ()) = tokio::join!(client.call::<GetTask>(params), daemon);
        assert_eq!(answer.unwrap_err().daemon(), Some(&refusal), "{codec:?}");
    }
}

#[tokio::test]
async fn a_cut_connection_ends_waiting_and_later_calls() {
    for codec in CODECS {
        let (client, mut peer) = pair(options(codec)).await;
        let mut notifications = client.notifications();
        let daemon = async {
            peer.request().await.unwrap();
            drop(peer);
        };
        let (answer, ()) = tokio::join!(focus(&client, 1), daemon);
        assert!(matches!(answer, Err(CallError::Disconnected(Disconnect::Closed))), "{answer:?}");
        assert!(matches!(focus(&client, 1).await, Err(CallError::Disconnected(Disconnect::Closed))));
        assert_eq!(notifications.next().await, None);
        assert_eq!(client.notifications().next().await, None, "a late listener does not wait for ever");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_does_not_disturb_the_next() {
    for codec in CODECS {
        let short = Options { call_timeout: Duration::from_millis(100), ..options(codec) };
        let (client, mut peer) = pair(short).await;
        let late = focus(&client, 1).await;
        assert!(matches!(late, Err(CallError::Timeout { method: "focus", .. })), "{late:?}");
        let daemon = async {
            for _ in 0..2 {
                let (id, request) = peer.request().await.unwrap();
                peer.reply(id, echo(&request)).await;
            }
        };
        // The reply to the first call comes late, and is not taken for the second's.
        let (answer, ()) = tokio::join!(focus(&client, 2), daemon);
        assert_eq!(answer.unwrap().conversation_id, Some(id(2)));
    }
}

#[tokio::test]
async fn a_reply_that_cannot_be_decoded_fails_only_its_call() {
    let (client, mut peer) = pair(options(Codec::Json)).await;
    let daemon = async {
        peer.request().await.unwrap();
        peer.raw(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"conversationId\":17}}\n".to_vec()).await;
        let (id, request) = peer.request().await.unwrap();
        peer.reply(id, echo(&request)).await;
    };
    let asking = async { (focus(&client, 1).await, focus(&client, 2).await) };
    let ((first, second), ()) = tokio::join!(asking, daemon);
    assert!(matches!(first, Err(CallError::Decode { method: "focus", .. })), "{first:?}");
    second.unwrap();
}

#[tokio::test]
async fn unknown_json_is_skipped_and_broken_json_ends_the_connection() {
    let (client, mut peer) = pair(options(Codec::Json)).await;
    let mut notifications = client.notifications();
    peer.raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"taskDream\",\"params\":{}}\n".to_vec()).await;
    peer.raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"lagged\",\"params\":{\"new\":1}}\n".to_vec()).await;
    peer.notify(task_message(5)).await;
    assert_eq!(notifications.next().await, Some(task_message(5)));
    peer.raw(b"{half a line\n".to_vec()).await;
    assert_eq!(notifications.next().await, None);
    assert!(matches!(client.disconnected(), Some(Disconnect::Garbled(_))));
}

#[tokio::test]
async fn an_invalid_frame_ends_the_connection() {
    let (client, mut peer) = pair(options(Codec::Binary)).await;
    let mut notifications = client.notifications();
    peer.raw(vec![0xff; 40]).await;
    assert_eq!(notifications.next().await, None);
    assert!(matches!(client.disconnected(), Some(Disconnect::Garbled(_))));
}

#[tokio::test]
async fn dropping_the_last_clone_closes_the_connection() {
    for codec in CODECS {
        let (client, peer) = pair(options(codec)).await;
        let other = client.clone();
        drop(client);
        assert_eq!(other.disconnected(), None);
        drop(other);
        peer.gone().await;
    }
}

/// Paused time advances only when no task can run: then the daemon is blocked, as it should be.
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_blocks_the_daemon_and_loses_nothing() {
    for codec in CODECS {
        let (client, mut peer) = pair(options(codec)).await;
        let mut notifications = client.notifications();
        let piece = |n: u64| delta(DeltaItem::Reply(id(9)), 1, DeltaKind::Text, n, &"x".repeat(1024));
        let mut written = 0;
        let stuck = async {
            while written < 10_000 {
                peer.notify(piece(written)).await;
                written += 1;
            }
        };
        assert!(tokio::time::timeout(Duration::from_secs(1), stuck).await.is_err(), "nothing held it back");
        assert!(written < 500, "{written} KiB are held in memory");
        for n in 0..written {
            assert_eq!(notifications.next().await, Some(piece(n)));
        }
    }
}

#[tokio::test]
async fn notifications_without_a_listener_are_dropped() {
    let (client, mut peer) = pair(options(Codec::Binary)).await;
    let listener = client.notifications();
    drop(listener);
    let daemon = async {
        for n in 0..2_000 {
            peer.notify(task_message(n)).await;
        }
        let (id, request) = peer.request().await.unwrap();
        peer.reply(id, echo(&request)).await;
    };
    let (answer, ()) = tokio::join!(focus(&client, 1), daemon);
    answer.unwrap();
    let mut listener = client.notifications();
    let fresh: Notification = task_message(7);
    peer.notify(fresh.clone()).await;
    assert_eq!(listener.next().await, Some(fresh));
}
