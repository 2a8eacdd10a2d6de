use crate::{
    peer::{CODECS, Listener, Peer, listen},
    things::{conversation, snapshot, task_message},
};
use abide_client::{
    Client, ConnectError, Connector, Live, LiveError, LiveOptions, Update,
    protocol::{
        Error, ErrorKind, Seq, SubscriptionId,
        codec::Codec,
        method::subscription::Scope,
        notification::{DaemonUpdate, Lagged, Notification, Snapshot},
    },
};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::io::DuplexStream;

fn scope() -> Scope {
    Scope::Conversation(conversation())
}

async fn open(codec: Codec, first: Snapshot) -> (Live, Peer<DuplexStream>, Listener) {
    let (connector, mut listener) = listen(codec);
    let daemon = async {
        let mut peer = listener.accept().await;
        peer.subscribed(first).await;
        peer
    };
    let (live, peer) = tokio::join!(Live::open(connector, scope(), None, LiveOptions::default()), daemon);
    (live.unwrap(), peer, listener)
}

fn seq_of(update: &Update) -> u64 {
    let Update::Notification(Notification::TaskMessage(message)) = update else { panic!("{update:?}") };
    message.seq.0
}

#[tokio::test]
async fn after_a_cut_it_resumes_at_its_cursor() {
    for codec in CODECS {
        let (mut live, mut peer, mut listener) = open(codec, snapshot(10)).await;
        assert_eq!(live.next().await, Update::Snapshot(Box::new(snapshot(10))));
        for seq in [11, 15] {
            peer.notify(task_message(seq)).await;
            assert_eq!(seq_of(&live.next().await), seq);
        }
        drop(peer);
        assert!(matches!(live.next().await, Update::Disconnected { .. }));
        let mut peer = listener.accept().await;
        // The snapshot's own seq is later than records that are still to come.
        assert_eq!(peer.subscribed(snapshot(99)).await.since, Some(Seq(15)));
        assert_eq!(live.next().await, Update::Reconnected(Box::new(snapshot(15))));
        for seq in [11, 15, 16, 16, 20] {
            peer.notify(task_message(seq)).await;
        }
        assert_eq!(seq_of(&live.next().await), 16);
        assert_eq!(seq_of(&live.next().await), 20);
    }
}

#[tokio::test]
async fn many_cuts_leave_no_gap_and_no_repeat() {
    for codec in CODECS {
        let (mut live, mut peer, mut listener) = open(codec, snapshot(0)).await;
        let reading = async {
            let mut seen = Vec::new();
            while seen.len() < 200 {
                if let Update::Notification(Notification::TaskMessage(message)) = live.next().await {
                    seen.push(message.seq.0);
                }
            }
            seen
        };
        let daemon = async {
            let mut from = 0;
            for cut in 1..=20 {
                // Each connection repeats some records, and is cut before all its records are sent.
                for seq in from + 1..=(cut * 10) {
                    peer.notify(task_message(seq)).await;
                }
                drop(peer);
                peer = listener.accept().await;
                from = peer.subscribed(snapshot(0)).await.since.unwrap().0.saturating_sub(3);
            }
            peer
        };
        let (seen, _peer) = tokio::join!(reading, daemon);
        assert_eq!(seen, (1..=200).collect::<Vec<_>>(), "{codec:?}");
    }
}

#[tokio::test]
async fn a_lagged_client_resumes_at_its_cursor() {
    let (mut live, mut peer, mut listener) = open(Codec::Binary, snapshot(10)).await;
    live.next().await;
    peer.notify(task_message(12)).await;
    let lagged = Lagged { subscription_id: SubscriptionId(1), resume_from: Seq(12) };
    peer.notify(Notification::Lagged(lagged)).await;
    assert_eq!(seq_of(&live.next().await), 12);
    assert!(matches!(live.next().await, Update::Disconnected { .. }));
    // The client closes the connection itself if the daemon does not.
    peer.gone().await;
    assert_eq!(listener.accept().await.subscribed(snapshot(12)).await.since, Some(Seq(12)));
}

#[tokio::test]
async fn an_overview_gets_a_whole_snapshot_each_time() {
    let (connector, mut listener) = listen(Codec::Json);
    let mut live = Live::eventually(connector, Scope::Overview, None, LiveOptions::default());
    let mut peer = listener.accept().await;
    assert_eq!(peer.subscribed(snapshot(10)).await.since, None);
    assert!(matches!(live.next().await, Update::Snapshot(_)));
    drop(peer);
    let mut peer = listener.accept().await;
    assert_eq!(peer.subscribed(snapshot(20)).await.since, None);
    assert!(matches!(live.next().await, Update::Disconnected { .. }));
    assert_eq!(live.next().await, Update::Reconnected(Box::new(snapshot(20))));
}

#[tokio::test]
async fn a_given_cursor_is_used_from_the_start() {
    let (connector, mut listener) = listen(Codec::Binary);
    let daemon = async {
        let mut peer = listener.accept().await;
        let since = peer.subscribed(snapshot(50)).await.since;
        peer.notify(task_message(40)).await;
        peer.notify(task_message(41)).await;
        (peer, since)
    };
    let opening = Live::open(connector, scope(), Some(Seq(40)), LiveOptions::default());
    let (live, (_peer, since)) = tokio::join!(opening, daemon);
    assert_eq!(since, Some(Seq(40)));
    let mut live = live.unwrap();
    assert_eq!(live.next().await, Update::Snapshot(Box::new(snapshot(40))));
    assert_eq!(seq_of(&live.next().await), 41);
}

#[tokio::test]
async fn a_permanent_error_ends_the_subscription_with_its_reason() {
    let (mut live, peer, mut listener) = open(Codec::Binary, snapshot(10)).await;
    live.next().await;
    drop(peer);
    assert!(matches!(live.next().await, Update::Disconnected { .. }));
    let mut peer = listener.accept().await;
    let (id, _) = peer.request().await.unwrap();
    peer.refuse(id, Error::new(ErrorKind::NotFound, "that conversation is deleted")).await;
    for _ in 0..2 {
        assert_eq!(live.next().await, Update::Ended { reason: "that conversation is deleted".to_owned() });
    }
}

#[tokio::test]
async fn the_first_failure_is_an_error_of_open() {
    let refused = || ConnectError::Refused(Error::new(ErrorKind::Forbidden, "not you"));
    let connector = move || std::future::ready(Err::<Client, _>(refused()));
    let error = Live::open(connector, scope(), None, LiveOptions::default()).await.unwrap_err();
    assert!(matches!(error, LiveError::Connect(ConnectError::Refused(_))), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn retries_slow_down_and_each_reason_is_reported_once() {
    let mut attempts = Vec::new();
    let (sender, mut times) = tokio::sync::mpsc::channel(64);
    let connector = move || {
        let sender = sender.clone();
        async move {
            let _ = sender.try_send(tokio::time::Instant::now());
            Err::<Client, _>(ConnectError::NotRunning { socket: "/nowhere".into() })
        }
    };
    let mut live = Live::eventually(connector, scope(), None, LiveOptions::default());
    assert!(matches!(live.next().await, Update::Disconnected { .. }));
    assert!(tokio::time::timeout(Duration::from_secs(60), live.next()).await.is_err(), "it said so twice");
    while let Ok(time) = times.try_recv() {
        attempts.push(time);
    }
    let waits: Vec<Duration> = attempts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(waits.windows(2).all(|pair| pair[0] <= pair[1]), "{waits:?}");
    let LiveOptions { first_wait, longest_wait, .. } = LiveOptions::default();
    assert_eq!((waits.first(), waits.last()), (Some(&first_wait), Some(&longest_wait)));
    assert!((15..25).contains(&waits.len()), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn a_daemon_that_fails_each_time_is_retried_with_a_growing_wait() {
    let (connector, mut listener) = listen(Codec::Binary);
    let _live = Live::eventually(connector, scope(), None, LiveOptions::default());
    let begun = tokio::time::Instant::now();
    for _ in 0..10 {
        let mut peer = listener.accept().await;
        peer.subscribed(snapshot(1)).await;
    }
    assert!(begun.elapsed() > Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_does_not_read_blocks_the_daemon() {
    let (mut live, mut peer, _listener) = open(Codec::Binary, snapshot(0)).await;
    let mut written = 0;
    let stuck = async {
        while written < 10_000 {
            written += 1;
            peer.notify(task_message(written)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(1), stuck).await.is_err(), "nothing held it back");
    assert!(written < 2_000, "{written}");
    live.next().await;
    for seq in 1..written {
        assert_eq!(seq_of(&live.next().await), seq);
    }
}

#[tokio::test]
async fn dropping_it_closes_the_connection() {
    let (live, peer, _listener) = open(Codec::Json, snapshot(0)).await;
    drop(live);
    peer.gone().await;
}

/// Notes what it hears, and when it connects.
struct Noting<C> {
    inner: C,
    notes: Arc<Mutex<Vec<&'static str>>>,
}

impl<C: Connector> Connector for Noting<C> {
    fn connect(&mut self) -> impl Future<Output = Result<Client, ConnectError>> + Send {
        self.notes.lock().unwrap().push("connects");
        self.inner.connect()
    }

    fn heard(&mut self, daemon: DaemonUpdate) {
        self.notes.lock().unwrap().push(if daemon.shutting_down { "it stops" } else { "it runs" });
    }
}

/// A window would start a daemon again that was just stopped.
#[tokio::test]
async fn the_connector_hears_that_the_daemon_stops_before_it_connects_again() {
    let (inner, mut listener) = listen(Codec::Json);
    let notes = Arc::<Mutex<Vec<&str>>>::default();
    let connector = Noting { inner, notes: notes.clone() };
    // Nobody reads its updates.
    let _live = Live::eventually(connector, Scope::Overview, None, LiveOptions::default());
    let mut peer = listener.accept().await;
    peer.subscribed(snapshot(10)).await;
    let stops = DaemonUpdate { shutting_down: true, ..DaemonUpdate::default() };
    peer.notify(Notification::DaemonUpdate(stops)).await;
    drop(peer);
    listener.accept().await;
    assert_eq!(*notes.lock().unwrap(), ["connects", "it runs", "it stops", "connects"]);
}

/// Connects, and then fails so many times, each after so long, before it connects again.
struct Failing<C> {
    inner: C,
    /// `None`: it connects.
    attempts: VecDeque<Option<Duration>>,
}

impl<C: Connector> Connector for Failing<C> {
    async fn connect(&mut self) -> Result<Client, ConnectError> {
        match self.attempts.pop_front().flatten() {
            Some(wait) => {
                tokio::time::sleep(wait).await;
                Err(ConnectError::Timeout(wait))
            }
            None => self.inner.connect().await,
        }
    }
}

/// A person has not lost what is there again at once.
#[tokio::test(start_paused = true)]
async fn a_patient_one_tells_of_a_loss_that_lasts() {
    let (at_once, long) = (Duration::ZERO, Duration::from_secs(30));
    for (name, failures, is_told) in [
        ("the daemon cut a client that read too slowly", vec![], false),
        ("the daemon started again", vec![at_once; 3], false),
        ("this process was stopped while it connected", vec![long], false),
        ("the daemon is away", vec![at_once; 6], true),
        ("the daemon does not answer", vec![long; 2], true),
    ] {
        let (inner, mut listener) = listen(Codec::Binary);
        let attempts = std::iter::once(None).chain(failures.into_iter().map(Some)).collect();
        let options = LiveOptions { patience: Duration::from_secs(1), ..LiveOptions::default() };
        let mut live = Live::eventually(Failing { inner, attempts }, scope(), None, options);
        let mut peer = listener.accept().await;
        peer.subscribed(snapshot(10)).await;
        assert!(matches!(live.next().await, Update::Snapshot(_)), "{name}");
        drop(peer);
        let mut peer = listener.accept().await;
        peer.subscribed(snapshot(10)).await;
        let mut next = live.next().await;
        assert_eq!(matches!(next, Update::Disconnected { .. }), is_told, "{name}: {next:?}");
        if is_told {
            next = live.next().await;
        }
        assert!(matches!(next, Update::Reconnected(_)), "{name}: {next:?}");
    }
}
