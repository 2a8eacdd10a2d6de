//! A client that connects to the socket which its environment names.

use abide_tests::{model_server::Turn, world::World};

#[tokio::test]
async fn a_named_socket_is_used_instead_of_a_home_and_nothing_is_started() {
    let world = World::start().await;
    world.model.script("far", [Turn::say("Done here.")]);
    let elsewhere = world.daemon.root().join("elsewhere");
    let other = elsewhere.to_str().unwrap();
    let socket = world.daemon.socket();
    let cli = || world.daemon.cli().env("ABIDE_HOME", other).env("ABIDE_SOCKET", socket.to_str().unwrap());
    let said = cli().ok(&["run", "--mode", "chat", "[k:far] say it"]).await;
    assert!(said.contains("Done here."), "{said}");
    let listed = world.daemon.cli().json(&["ps", "--all"]).await;
    assert_eq!(cli().json(&["ps", "--all"]).await, listed);

    let nobody = elsewhere.join("nobody.sock");
    for command in [&["ps"][..], &["daemon", "status"], &["daemon", "start"]] {
        let refused = cli().env("ABIDE_SOCKET", nobody.to_str().unwrap()).run(command).await;
        assert_eq!(refused.code, Some(3), "{command:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("nobody.sock, which ABIDE_SOCKET names"), "{}", refused.stderr);
    }
    assert!(!elsewhere.join("data").exists() && !elsewhere.join("run").exists(), "no daemon began there");
}
