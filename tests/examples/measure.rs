//! What it costs: memory, the time of `abide ps`, and what a step takes beside the model.
//!
//! `cargo build --release --bins && cargo run --release -p abide-tests --example measure`. Figures, not promises: nothing fails here.

#![expect(clippy::print_stdout, reason = "it prints figures")]

use abide_client::protocol::task::Status;
use abide_tests::{
    model_server::{Script, Turn},
    world::World,
};
use serde_json::json;
use std::{
    fs,
    time::{Duration, Instant},
};

const WAITING: usize = 50;
const STEPS: usize = 200;
const RUNS: usize = 30;

#[tokio::main]
async fn main() {
    let world = World::start().await;
    println!("daemon, idle: {} KiB PSS", pss(world.daemon.pid()));
    for n in 0..WAITING {
        let task = world.run(&format!("waits-{n}"), [Turn::ask("Well?")]).await;
        world.wait_status(task, Status::WaitingUser).await;
    }
    println!("daemon, {WAITING} conversations waiting: {} KiB PSS", pss(world.daemon.pid()));
    let cli = world.daemon.cli();
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        let begun = Instant::now();
        let output = cli.run(&["ps"]).await;
        runs.push(begun.elapsed());
        assert_eq!(output.code, Some(0), "{output:?}");
    }
    show("`abide ps` with them", &mut runs);
    steps(&world, "a step that only tells", |n| {
        Turn::new().call("send_update", json!({ "message": n.to_string() }))
    })
    .await;
    steps(&world, "a step that lists the folder", |n| {
        Turn::new().call("list", json!({})).call("send_update", json!({ "message": n.to_string() }))
    })
    .await;
    steps(&world, "a step that runs `true`", |n| Turn::shell(&format!("true {n}"))).await;
}

/// From the beginning of one answer, which comes all at once, to the arrival of the next request.
async fn steps(world: &World, what: &str, turn: impl Fn(usize) -> Turn + Send + Sync + 'static) {
    let script = Script::by(move |n| Some(if n < STEPS { turn(n) } else { Turn::done("Done.") }));
    world.model.script(what, script);
    let mut params = world.task(what);
    params.limits.max_steps = Some(0);
    let task = world.begin(params).await;
    world.wait_end(task).await;
    let requests = world.model.requests(what);
    let mut between: Vec<Duration> =
        requests.windows(2).map(|pair| pair[1].at - pair[0].answered_at).collect();
    show(what, &mut between);
}

fn show(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    println!("{what}: median {:.1?}, p95 {:.1?} ({} times)", at(50), at(95), times.len());
}

/// Proportional set size, in KiB; 0 where the system does not tell.
fn pss(pid: u32) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
