//! The same request is sent many times over connections that are cut before the reply: it starts one task.

use abide_client::protocol::{
    method::{self, task::StartTaskParams},
    record::RecordBody,
    task::Mode,
};
use abide_tests::{
    ledger,
    model_server::{Script, Turn},
    seed::{Seed, times},
    wait,
    world::World,
};
use serde_json::json;
use std::collections::BTreeMap;
use tokio::{io::AsyncWriteExt as _, net::UnixStream};

/// How often each request is sent.
const SENT: usize = 10;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"hello","params":{"protocol":{"min":1,"max":1}}}"#;

/// Sends the request and closes the connection without waiting; the daemon may not even have read all of it.
async fn send_and_go(world: &World, params: &StartTaskParams, bytes_kept_back: usize) {
    let mut socket = UnixStream::connect(world.daemon.socket()).await.unwrap();
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "startTask", "params": params });
    let lines = format!("{HELLO}\n{request}\n");
    // The daemon may close the connection first.
    drop(socket.write_all(&lines.as_bytes()[..lines.len() - bytes_kept_back]).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeated_request_starts_one_task_wherever_it_is_cut() {
    let mut seed = Seed::drawn("the same request");
    let world = World::start().await;
    world.model.script_for_all(Script::by(|n| (n == 0).then(|| Turn::say("Here."))));
    let requests = times("ABIDE_TEST_RACES", 120) / SENT;
    let mut started = BTreeMap::new();
    for n in 0..requests {
        let id = format!("m-{n}");
        let params = StartTaskParams {
            client_message_id: Some(id.clone()),
            mode: Some(Mode::Chat),
            // Each gets a scratch folder; refused repeats must leave none behind.
            workspace: None,
            ..world.task(&id)
        };
        let (one, other) = (world.daemon.client().await, world.daemon.json_client().await);
        let asks = async |client: &abide_client::Client| {
            client.call::<method::StartTask>(params.clone()).await.unwrap()
        };
        let (a, b, c, d, ..) = tokio::join!(
            asks(&one),
            asks(&other),
            asks(&one),
            asks(&other),
            send_and_go(&world, &params, 0),
            send_and_go(&world, &params, seed.below(2)),
            send_and_go(&world, &params, 1 + seed.below(300)),
        );
        send_and_go(&world, &params, 0).await;
        for reply in [b, c, d, asks(&one).await, asks(&other).await] {
            assert_eq!(reply, a, "{id} was started twice");
        }
        started.insert(id, a.task_id);
    }
    wait::wait_until("all connections to be over", async || {
        let params = method::daemon::StatusParams::default();
        let status = world.client.call::<method::Status>(params).await.unwrap();
        status.connections == 1 && status.tasks.running == 0
    })
    .await;
    for id in started.keys() {
        assert_eq!(world.model.requests(id).len(), 1, "the model was asked {id} for what is refused");
    }
    let lines = ledger::read(&world.daemon.home());
    let on_disk: Vec<_> = lines
        .iter()
        .filter_map(|line| match line.record() {
            RecordBody::TaskStarted(head) => Some((head.client_message?.id, line.task?)),
            _ => None,
        })
        .collect();
    assert_eq!(on_disk.len(), requests, "a request started several tasks");
    assert_eq!(on_disk.into_iter().collect::<BTreeMap<_, _>>(), started);
    let folders = std::fs::read_dir(world.daemon.home().scratch_dir()).unwrap().count();
    assert_eq!(folders, requests, "a folder for each task, and none for those that came second");
    println!("{requests} requests, sent {SENT} times each: {requests} tasks");
}
