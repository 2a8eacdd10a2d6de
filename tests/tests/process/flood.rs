//! A command that prints without end: the daemon does not grow, the output kept is limited, and other clients
//! are served.

use abide_client::protocol::{
    message::CallOutcome,
    method::{self, daemon::StatusParams},
};
use abide_tests::{
    model_server::Turn,
    seed::{spread, times},
    vitals::Vitals,
    wait,
    world::World,
};
use serde_json::json;
use std::time::{Duration, Instant};

/// How much memory a flood may add, in KiB.
const BOUND_KIB: u64 = 64 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_output_does_not_grow_the_daemon() {
    let seconds = times("ABIDE_TEST_FLOOD_SECS", 3) as u64;
    let world = World::start().await;
    let before = Vitals::of(world.daemon.pid());
    let flood = json!({ "command": "yes 'a line without end'", "timeout_secs": 2 * seconds + 60 });
    let script = || [Turn::new().call("shell", flood.clone()), Turn::done("Done.")];
    let floods = [world.run("one", script()).await, world.run("two", script()).await];
    for flood in floods {
        world.watch(flood).await.wait_output("a line without end").await;
    }
    let (mut most, mut took) = (before.heap_kib, Vec::new());
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        let begun = Instant::now();
        world.client.call::<method::Status>(StatusParams::default()).await.expect("others are served");
        took.push(begun.elapsed());
        most = most.max(Vitals::of(world.daemon.pid()).heap_kib);
        wait::look_again().await;
    }
    for flood in floods {
        world.stop(flood).await;
    }
    wait::wait_until("all of it to be gone", async || world.daemon.offspring().is_empty()).await;
    let spooled: u64 = std::fs::read_dir(world.daemon.home().spool_dir())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().map_or(0, |found| found.len()))
        .sum();
    println!(
        "two floods of {seconds} s: heap {} -> at most {most} KiB; others: {}",
        before.heap_kib,
        spread(took)
    );
    assert!(most < before.heap_kib + BOUND_KIB, "{before:?}, at most {most}");
    assert!(spooled < 4 * 1024 * 1024, "{spooled} bytes are kept");
    for flood in floods {
        let call = world.get(flood).await.calls.remove(0);
        assert_eq!(call.outcome, Some(CallOutcome::Cancelled), "{call:?}");
    }
}
