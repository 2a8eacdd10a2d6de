//! Stopped while a crowd works: `abide daemon stop` and SIGTERM let running work finish and lose nothing; so
//! do many stops in a row.

use abide_tests::{
    audit::audit,
    crowd::{Crowd, Ground},
    daemon::{Config, TestDaemon},
    ledger,
    model_server::ModelServer,
    seed::{Seed, spread, times},
    tap::Tap,
    wait,
};
use std::{sync::Arc, time::Instant};

const TASKS: usize = 24;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_in_the_middle_of_a_crowd_loses_nothing() {
    let mut seed = Seed::drawn("drain");
    let stops = times("ABIDE_TEST_STOPS", 2);
    let model = Arc::new(ModelServer::start().await);
    let mut daemon = TestDaemon::new(&Config::with(&model));
    let ground = Ground::of(&daemon, &model, seed.of("crowd"));
    let witness = ground.witness.clone();
    daemon.up().await;
    let mut tap = Tap::open(daemon.home());
    let mut crowd = Crowd::start(ground, TASKS);
    let mut took = Vec::new();
    for number in 0..stops {
        let enough = tap.len() + 100 + seed.below(200);
        wait::wait_until("some more records", async || tap.len() >= enough).await;
        let begun = Instant::now();
        if number % 2 == 0 {
            assert!(daemon.stop().await.success(), "stop {number}");
        } else {
            daemon.cli().ok(&["daemon", "stop"]).await;
            assert!(daemon.ended().await.success(), "stop {number}");
        }
        took.push(begun.elapsed());
        assert!(daemon.offspring().is_empty(), "stop {number}: {:?}", daemon.offspring());
        crowd.assert_running();
        tap.assert_matches(&daemon.home().database());
        daemon.up().await;
    }
    crowd.finish().await;
    let database = daemon.home().database();
    let last = ledger::last(&database);
    wait::wait_until("a client to be told everything", async || tap.cursor() == last).await;
    tap.assert_matches(&database);
    let account = audit(&ledger::read(&daemon.home()), &crowd.acks(), &witness, &model);
    assert_eq!(account.crash_loops, 0, "a daemon that is told to end has not crashed");
    println!("{stops} stops among {TASKS} tasks: {account}; each took {}", spread(took));
}
