//! Many tasks wait for a decision in one folder, over a restart: that takes few descriptors and threads.

use abide_client::protocol::{inbox::Decision, task::Status};
use abide_tests::{model_server::Turn, wait, world::World};
use serde_json::json;
use std::{fs, time::Instant};

const TASKS: usize = 150;
/// Of which a daemon without tasks has some 20.
const MOST_DESCRIPTORS: usize = 120;
const MOST_THREADS: usize = 40;

/// The daemon's descriptors and threads.
fn usage(pid: u32) -> (usize, usize) {
    let count = |what: &str| fs::read_dir(format!("/proc/{pid}/{what}")).map_or(0, Iterator::count);
    (count("fd"), count("task"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_waiting_approvals_cost_few_descriptors_and_threads() {
    let mut world = World::start().await;
    let mut tasks = Vec::new();
    for n in 0..TASKS {
        let script =
            [Turn::new().call("create_dir", json!({ "path": format!("made-{n}") })), Turn::done("Made it.")];
        tasks.push(world.run_asking(&format!("asks-{n}"), script).await);
    }
    for task in &tasks {
        world.wait_status(*task, Status::WaitingApproval).await;
    }
    // Before all checkpoints are made, and after.
    for round in 0..2 {
        world.crash_and_restart().await;
        let pid = world.daemon.pid();
        let (mut descriptors, mut threads) = (0, 0);
        let decided = tasks.pop().unwrap();
        let began = Instant::now();
        assert!(world.decide(decided, Decision::AllowOnce).await);
        let took = began.elapsed();
        wait::wait_until("the decided task to end", async || {
            let (now_descriptors, now_threads) = usage(pid);
            (descriptors, threads) = (descriptors.max(now_descriptors), threads.max(now_threads));
            world.get(decided).await.task.status.has_ended()
        })
        .await;
        println!(
            "waiting approvals: round {round}: at most {descriptors} descriptors and {threads} threads; decided in {took:?}, ended after {:?}",
            began.elapsed()
        );
        assert!(descriptors <= MOST_DESCRIPTORS, "{descriptors} descriptors");
        assert!(threads <= MOST_THREADS, "{threads} threads");
    }
}
