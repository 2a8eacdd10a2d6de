//! A command gets three descriptors, and of the daemon's environment only what is meant for it.

use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{ModelServer, Turn},
    world::World,
};

#[tokio::test]
async fn a_command_has_three_descriptors_and_no_secret() {
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model));
    for name in [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "ABIDE_ANYTHING",
        "LD_PRELOAD_NOT",
    ] {
        daemon.set_env(name, "canary-of-the-daemon");
    }
    let world = World::of(model, daemon).await;
    // There is a client, and the database and the log are open: a command must get none of these descriptors.
    let command = "for p in self $PPID; do echo \"of $p:\"; ls /proc/$p/fd | tr '\\n' ' '; echo; done; env; \
                   tr '\\0' '\\n' < /proc/$PPID/environ; ls -l /proc/self/fd";
    let task = world.run("clean", [Turn::shell(command), Turn::done("Done.")]).await;
    world.wait_end(task).await;
    let told = world.model.last_request("clean").unwrap().text();
    assert!(!told.contains("canary"), "{told}");
    assert!(
        !told.contains("abide.db") && !told.contains("socket:") && !told.contains("abide.lock"),
        "{told}"
    );
    // `ls` has the folder open that it lists.
    assert!(told.contains("of self:\\n0 1 2 3 \\n"), "{told}");
}
