//! Clients that announce too much, send nothing, or stop reading are cut off, and other clients are not
//! affected.

use abide_client::protocol::{
    Seq,
    hello::BINCODE,
    method::{self, daemon::StatusParams},
};
use abide_tests::{
    model_server::{Gate, Script, Turn},
    seed::spread,
    tap::Tap,
    vitals::Vitals,
    wait,
    world::World,
};
use serde_json::{Value, json};
use std::time::Instant;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
};

/// How much memory a crowd may add to the daemon, in KiB: far more than it does add, far less than would
/// hurt.
const BOUND_KIB: u64 = 64 * 1024;
const IDLERS: usize = 1000;
/// Descriptors that the daemon opens with its first uses: the log of each connection to the database, the
/// server of tools' helpers.
const OPENED_LATER: usize = 8;
/// Tasks that bring half a MiB of records each.
const READERS: usize = 24;

fn hello(codecs: &[&str]) -> String {
    let params = json!({ "protocol": { "min": 1, "max": 1 }, "codecs": codecs });
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": 0, "method": "hello", "params": params }))
}

async fn ask(world: &World) -> std::time::Duration {
    let begun = Instant::now();
    world.client.call::<method::Status>(StatusParams::default()).await.expect("others are served");
    begun.elapsed()
}

#[tokio::test]
async fn a_frame_with_too_large_a_length_is_refused_before_it_is_read() {
    let world = World::start().await;
    let before = Vitals::of(world.daemon.pid());
    for announced in
        [&u32::MAX.to_be_bytes()[..], &(1_u64 << 63).to_be_bytes(), &(i32::MAX as u32).to_be_bytes()]
    {
        let mut socket = UnixStream::connect(world.daemon.socket()).await.unwrap();
        socket.write_all(hello(&[BINCODE]).as_bytes()).await.unwrap();
        let mut answer = BufReader::new(&mut socket);
        let mut line = String::new();
        answer.read_line(&mut line).await.unwrap();
        assert!(line.contains(BINCODE), "{line}");
        socket.write_all(announced).await.unwrap();
        let mut rest = Vec::new();
        drop(wait::within("the connection to be closed", socket.read_to_end(&mut rest)).await);
        ask(&world).await;
    }
    // A line without a newline.
    let mut socket = UnixStream::connect(world.daemon.socket()).await.unwrap();
    socket.write_all(hello(&[]).as_bytes()).await.unwrap();
    let piece = vec![b'x'; 1024 * 1024];
    let mut sent = 0;
    while sent < 64 && socket.write_all(&piece).await.is_ok() {
        sent += 1;
    }
    assert!(sent < 64, "an endless line is taken");
    let mut rest = Vec::new();
    drop(wait::within("the connection to be closed", socket.read_to_end(&mut rest)).await);
    let after = Vitals::of(world.daemon.pid());
    println!("announced and endless: heap {} -> {} KiB", before.heap_kib, after.heap_kib);
    assert!(after.heap_kib < before.heap_kib + BOUND_KIB, "{before:?} {after:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_silent_connections_are_closed_while_a_real_client_is_served() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let wanted = rustix::process::Rlimit { current: limit.maximum, ..limit };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, wanted).unwrap();
    let world = World::start().await;
    let before = Vitals::of(world.daemon.pid());
    let mut idlers = Vec::new();
    for n in 0..IDLERS {
        let mut socket = UnixStream::connect(world.daemon.socket()).await.expect("one more");
        if n % 2 == 0 {
            // It sends the beginning of `hello` only.
            socket.write_all(br#"{"jsonrpc":"2.0","#).await.unwrap();
        }
        idlers.push(socket);
    }
    let mut took = Vec::new();
    for _ in 0..50 {
        took.push(ask(&world).await);
        let client = Instant::now();
        drop(world.daemon.client().await);
        took.push(client.elapsed());
    }
    let during = Vitals::of(world.daemon.pid());
    for socket in &mut idlers {
        let mut rest = Vec::new();
        drop(wait::within("a silent connection to be closed", socket.read_to_end(&mut rest)).await);
    }
    println!(
        "{IDLERS} silent connections: heap {} -> {} KiB; a real client: {}",
        before.heap_kib,
        during.heap_kib,
        spread(took)
    );
    assert!(during.heap_kib < before.heap_kib + BOUND_KIB, "{before:?} {during:?}");
    wait::wait_until("their descriptors to be given back", async || {
        Vitals::of(world.daemon.pid()).descriptors <= before.descriptors + OPENED_LATER
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_stops_reading_gets_its_cursor_and_is_cut_and_delays_no_other() {
    let world = World::start().await;
    let gate = Gate::new("the one that will not read has subscribed");
    std::fs::write(world.daemon.workspace().join("long.txt"), "many words \n".repeat(2500)).unwrap();
    let script = {
        let gate = gate.clone();
        Script::by(move |n| {
            let turn = Turn::new().gate(&gate).text("Reading.");
            Some(match n {
                // Each call's result repeats the longest text that a read may return.
                0 => (0..20)
                    .fold(turn, |turn, i| turn.call("read", json!({ "path": "long.txt", "offset": i + 1 }))),
                _ => turn.call("task_complete", json!({ "summary": "Done." })),
            })
        })
    };
    world.model.script_for_all(script);
    for n in 0..READERS {
        world.begin(world.task(&format!("flood-{n}"))).await;
    }
    gate.reached().await;
    let before = Vitals::of(world.daemon.pid());
    let mut lazy = UnixStream::connect(world.daemon.socket()).await.unwrap();
    let subscribe =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "subscribe", "params": { "scope": "all", "since": 0 } });
    lazy.write_all(format!("{}{subscribe}\n", hello(&[])).as_bytes()).await.unwrap();
    let mut tap = Tap::open(world.daemon.home());
    wait::wait_until("the other one to have begun", async || !tap.is_empty()).await;
    gate.open();
    let mut most = 0;
    wait::wait_until("the end of the flood", async || {
        most = most.max(Vitals::of(world.daemon.pid()).heap_kib);
        let status = world.client.call::<method::Status>(StatusParams::default()).await.unwrap();
        status.tasks.running == 0
    })
    .await;
    let last = abide_tests::ledger::last(&world.daemon.home().database());
    wait::wait_until("the one that reads to have seen everything", async || tap.cursor() == last).await;
    let records = tap.assert_matches(&world.daemon.home().database());

    // Now it reads: some records without a gap, the cursor to resume from, then the end.
    let mut lines = BufReader::new(&mut lazy).lines();
    let (mut cursor, mut resume_from, mut bytes) = (0, None, 0);
    wait::within("the lazy one to be cut", async {
        while let Ok(Some(line)) = lines.next_line().await {
            bytes += line.len();
            // Where it takes long, it is cut in the middle of a line, which is then the last.
            let Ok(message) = serde_json::from_str::<Value>(&line) else { break };
            match message["method"].as_str() {
                Some("taskMessage" | "taskEvent") => {
                    let seq = message["params"]["seq"].as_u64().unwrap();
                    assert!(seq > cursor && resume_from.is_none(), "{seq} after {cursor}");
                    cursor = seq;
                }
                Some("lagged") => resume_from = message["params"]["resumeFrom"].as_u64(),
                _ => {}
            }
        }
    })
    .await;
    println!(
        "{records} records of {} KiB; the lazy one was cut after {cursor} and {} KiB; heap {} -> at most {most} KiB",
        std::fs::metadata(world.daemon.home().database()).unwrap().len() >> 10,
        bytes >> 10,
        before.heap_kib,
    );
    let resume_from = resume_from.or((cursor < last.0).then_some(cursor)).expect("it did not get everything");
    assert!(
        resume_from <= cursor.max(1),
        "nothing is left out: it has {cursor}, and is to resume after {resume_from}"
    );
    assert!(cursor < last.0, "it was cut");
    // Most of this memory is for the tasks and their requests to the model.
    assert!(most < before.heap_kib + 4 * BOUND_KIB, "{before:?}, at most {most}");
    let mut again = abide_tests::watcher::Watcher::open(
        &world.daemon,
        abide_client::protocol::method::subscription::Scope::All,
        Some(Seq(resume_from)),
    )
    .await;
    while again.cursor() < last {
        again.fact().await;
    }
    again.assert_agrees_with(&world.daemon, |_| true);
}
