//! One daemon for each home.

use abide_client::protocol::method::{self, daemon::StatusParams};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{ModelServer, Turn},
    wait,
    world::World,
};

#[tokio::test]
async fn of_many_daemons_started_at_once_exactly_one_stays() {
    let daemon = TestDaemon::new(&Config::new());
    let mut many: Vec<_> = (0..8).map(|_| daemon.another()).collect();
    wait::wait_until("all but one to give up", async || {
        many.iter_mut().filter_map(|c| c.try_wait().expect("a child can be waited for")).count() == 7
    })
    .await;
    let client = wait::wait_for("the one to answer", async || daemon.try_client().await).await;
    let pid = client.call::<method::Status>(StatusParams::default()).await.unwrap().pid;
    let mut left = None;
    for child in many {
        if child.id() == Some(pid) {
            left = Some(child);
        } else {
            let output = child.wait_with_output().await.unwrap();
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                !output.status.success() && words.contains("running"),
                "says that one runs already: {words}"
            );
        }
    }
    left.expect("the one that answers is the one that stayed").kill().await.unwrap();
}

#[tokio::test]
async fn the_socket_of_a_dead_daemon_is_replaced() {
    let model = ModelServer::start().await;
    let mut world = World::configured(model, &Config::new()).await;
    for _ in 0..5 {
        world.crash_and_restart().await;
    }
    assert!(world.daemon.stop().await.success());
    assert!(!world.daemon.socket().exists(), "it takes its socket with it");
}

#[tokio::test]
async fn its_files_are_private_to_its_user() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::start().await;
    let task = world.run("private", [Turn::shell("true"), Turn::done("Done.")]).await;
    world.wait_end(task).await;
    let home = world.daemon.home();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for folder in [&home.data_dir, &home.state_dir, &home.run_dir, &home.log_dir()] {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
    assert_eq!(mode(&home.database()), 0o600);
    assert_eq!(mode(&world.daemon.socket()) & 0o077, 0);
}
