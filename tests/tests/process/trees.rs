//! Processes that a command leaves behind are gone soon after a stop, and after the daemon is killed.

use abide_tests::{
    model_server::Turn,
    seed::{Seed, spread, times},
    wait,
    world::World,
};
use std::time::Instant;

/// Ways to escape.
const ESCAPES: &[(&str, &str)] = &[
    ("a session of its own", "setsid sleep 600 & sleep 600"),
    ("a double fork", "(setsid sh -c 'sleep 600 & exit' &) ; (sh -c '(sleep 600 &)' &); sleep 600"),
    ("nohup", "nohup sleep 600 >/dev/null 2>&1 & disown; nohup setsid sleep 600 >/dev/null 2>&1 & sleep 600"),
    (
        "deaf to SIGTERM",
        "trap '' TERM INT HUP; (trap '' TERM; while :; do sleep 60; done) & while :; do sleep 60; done",
    ),
    ("a hundred children", "for i in $(seq 100); do setsid sleep 600 & done; sleep 600"),
    ("another name and folder", "cd / && exec -a '[kworker/0:0]' sleep 600"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_process_survives_a_stop_or_the_daemon() {
    let mut seed = Seed::drawn("trees");
    let runs = times("ABIDE_TEST_TREES", 6);
    let mut world = World::start().await;
    let (mut stopped, mut orphaned) = (Vec::new(), Vec::new());
    for run in 0..runs {
        let (what, escape) = ESCAPES[run % ESCAPES.len()];
        let dies = (run + run / ESCAPES.len()) % 2 == 1 || seed.in_a_hundred(25);
        let script = [Turn::shell(&format!("echo begun; {escape}")), Turn::done("Done.")];
        let task = world.run(&format!("escape-{run}"), script).await;
        world.watch(task).await.wait_output("begun").await;
        let sleepers = if what.contains("hundred") { 101 } else { 1 };
        wait::wait_until(what, async || {
            world
                .daemon
                .offspring()
                .iter()
                .filter(|p| p.command.contains("sleep 60") || p.command.contains("600"))
                .count()
                >= sleepers
        })
        .await;
        let begun = Instant::now();
        if dies {
            world.daemon.kill();
            wait::wait_until(&format!("all of {what} to be gone"), async || {
                world.daemon.offspring().is_empty()
            })
            .await;
            orphaned.push(begun.elapsed());
            world.daemon.up().await;
            world.client = world.daemon.client().await;
            world.wait_end(task).await;
        } else {
            world.stop(task).await;
            wait::wait_until(&format!("all of {what} to be gone"), async || {
                world.daemon.offspring().is_empty()
            })
            .await;
            stopped.push(begun.elapsed());
        }
    }
    println!(
        "{runs} trees: gone after a stop: {}; after the daemon's death: {}",
        spread(stopped),
        spread(orphaned)
    );
}
