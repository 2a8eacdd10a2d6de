use super::{Config, TestDaemon};
use crate::process;

#[tokio::test]
#[should_panic(expected = "processes outlived the daemon")]
async fn a_process_that_survives_fails_its_test() {
    let daemon = TestDaemon::new(&Config::new());
    let mut command = process::program("sleep");
    // Only its working folder shows that it belongs to the test.
    let _survivor = command.arg("600").env_clear().current_dir(daemon.workspace()).spawn().expect("sleep");
    drop(daemon);
}
