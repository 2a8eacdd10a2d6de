//! A hundred daemons start at the same moment in one home: one stays, the others report it and end; also
//! after a kill -9.

use abide_client::protocol::method::{self, daemon::StatusParams};
use abide_tests::{
    daemon::{Config, TestDaemon},
    seed::{spread, times},
    wait,
};
use std::time::Instant;

const DAEMONS: usize = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_a_hundred_daemons_stays() {
    let rounds = times("ABIDE_TEST_ROUNDS", 2);
    let daemon = TestDaemon::new(&Config::new());
    let mut answered = Vec::new();
    for round in 0..rounds {
        // From the second round on, a killed daemon has left its socket and lock file.
        let begun = Instant::now();
        let mut many: Vec<_> = (0..DAEMONS).map(|_| daemon.another()).collect();
        let client = wait::wait_for("one to answer", async || daemon.try_client().await).await;
        answered.push(begun.elapsed());
        let pid = client.call::<method::Status>(StatusParams::default()).await.unwrap().pid;
        wait::wait_until("all but one to give up", async || {
            many.iter_mut().filter_map(|c| c.try_wait().expect("a child can be waited for")).count()
                == DAEMONS - 1
        })
        .await;
        let mut left = None;
        for child in many {
            if child.id() == Some(pid) {
                left = Some(child);
                continue;
            }
            let output = child.wait_with_output().await.unwrap();
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success() && words.contains("is running"), "round {round}: {words}");
        }
        let mut left = left.expect("the one that answers is the one that stayed");
        let still = daemon.client().await.call::<method::Status>(StatusParams::default()).await.unwrap().pid;
        assert_eq!(still, pid, "round {round}: the one that lives did not change");
        left.kill().await.unwrap();
    }
    println!("{rounds} rounds of {DAEMONS} daemons; until one answers: {}", spread(answered));
}
