//! A daemon that ends while it answers.

use abide_fail_point::{Point, VARIABLE};
use abide_tests::daemon::{Config, TestDaemon};

#[tokio::test]
async fn a_command_that_reads_asks_again() {
    let mut daemon = TestDaemon::new(&Config::new());
    daemon.set_env_once(VARIABLE, &format!("{}:1", Point::Acknowledge.name()));
    daemon.up().await;
    let read = daemon.cli().run(&["ps", "--all", "--json"]).await;
    assert_eq!((read.code, read.stdout.trim()), (Some(0), "[]"), "{read:?}");
    assert!(!daemon.ended().await.success(), "the daemon was killed before its first reply");
    daemon.cli().ok(&["daemon", "stop"]).await;
}
