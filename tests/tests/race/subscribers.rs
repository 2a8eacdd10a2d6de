//! Clients that connect and disconnect at random while conversations commit at the same time: no gap and no
//! repeat, in either codec.

use abide_client::protocol::{
    RecordId, Seq,
    method::{
        self,
        subscription::{Scope, SubscribeParams},
        task::StartTaskParams,
    },
    notification::Notification,
    task::LimitsRequest,
};
use abide_tests::{
    ledger,
    model_server::{Script, Turn},
    seed::{Seed, times},
    wait,
    world::World,
};
use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tokio::task::JoinSet;

const CONVERSATIONS: usize = 6;
const CLIENTS: usize = 4;

/// Connects so many times, and disconnects after a few facts, or before the first. Returns all facts.
async fn come_and_go(world: Arc<World>, mut seed: Seed, visits: usize) -> Vec<(Seq, RecordId)> {
    let mut seen = Vec::new();
    for _ in 0..visits {
        let client = if seed.in_a_hundred(50) {
            world.daemon.client().await
        } else {
            world.daemon.json_client().await
        };
        let mut told = client.notifications();
        let since = seen.last().map_or(Seq(0), |(seq, _)| *seq);
        let params = SubscribeParams { scope: Scope::All, since: Some(since) };
        if seed.in_a_hundred(10) {
            // Disconnects while the subscription begins.
            let call = client.call::<method::Subscribe>(params);
            drop(tokio::time::timeout(std::time::Duration::from_micros(seed.number() % 3000), call).await);
            continue;
        }
        client.call::<method::Subscribe>(params).await.expect("a subscription");
        let most = if seed.in_a_hundred(3) { 300 } else { 10 };
        let mut left = seed.below(most);
        wait::within("facts on the wire", async {
            while left > 0 {
                let fact = match told.next().await.expect("the connection stays") {
                    Notification::TaskMessage(m) => (m.seq, m.message.id),
                    Notification::TaskEvent(e) => (e.seq, e.record.id),
                    _ => continue,
                };
                seen.push(fact);
                left -= 1;
            }
        })
        .await;
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn subscribers_see_no_gap_and_no_repeat() {
    let seed = Seed::drawn("subscribers");
    let visits = times("ABIDE_TEST_RACES", 100) / CLIENTS;
    let world = Arc::new(World::start().await);
    let over = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&over);
    world.model.script_for_all(Script::by(move |n| {
        Some(if until.load(Ordering::Acquire) {
            Turn::done("Done.")
        } else {
            Turn::say(format!("Step {n}.")).call("send_update", json!({ "message": n.to_string() }))
        })
    }));
    let mut begun = 0;
    let mut begin = async || {
        begun += 1;
        let limits =
            LimitsRequest { max_steps: Some(60), step_delay_ms: Some(30), ..LimitsRequest::default() };
        world.begin(StartTaskParams { limits, ..world.task(&format!("c{begun}")) }).await
    };
    let mut tasks = Vec::new();
    for _ in 0..CONVERSATIONS {
        tasks.push(begin().await);
    }
    let mut clients = JoinSet::new();
    for n in 0..CLIENTS {
        clients.spawn(come_and_go(Arc::clone(&world), seed.of(&n.to_string()), visits));
    }
    let mut all = Vec::new();
    while !clients.is_empty() {
        tokio::select! {
            seen = clients.join_next() => all.extend(seen.map(|seen| seen.expect("a client"))),
            // A task that ends is replaced, so that there are always new records.
            _ = world.wait_end(tasks[0]) => {
                tasks.rotate_left(1);
                *tasks.last_mut().expect("tasks") = begin().await;
            }
        }
    }
    over.store(true, Ordering::Release);
    for task in tasks {
        world.wait_end(task).await;
    }
    let on_disk: Vec<_> =
        ledger::read(&world.daemon.home()).into_iter().map(|line| (line.seq, line.id)).collect();
    for seen in &all {
        assert_eq!(seen[..], on_disk[..seen.len()], "what was told (left), what is on disk (right)");
    }
    let told: Vec<usize> = all.iter().map(Vec::len).collect();
    println!(
        "{CLIENTS} clients came {visits} times each and were told {told:?} of {} records",
        on_disk.len()
    );
}
