//! `abide daemon status` says who started the daemon.

use abide_tests::{
    daemon::{Config, TestDaemon},
    skip::skip,
    terminal::Terminal,
    wait,
};
use serde_json::{Value, json};

async fn started_by(daemon: &TestDaemon) -> Value {
    daemon.cli().json(&["daemon", "status"]).await["start"]["by"].clone()
}

#[tokio::test]
async fn a_person_in_a_terminal_is_told() {
    if !Terminal::exists().await {
        return skip("a_person_in_a_terminal_is_told", "tmux is not installed");
    }
    let daemon = TestDaemon::new(&Config::default());
    // A shell that a client or systemd started has their variables.
    let terminal =
        Terminal::run(&daemon, "ABIDE_STARTED_BY=client SYSTEMD_EXEC_PID=1 abided --foreground").await;
    wait::wait_until("the daemon to answer", async || daemon.try_client().await.is_some()).await;
    assert_eq!(started_by(&daemon).await, json!("terminal"));
    let words = daemon.cli().ok(&["daemon", "status"]).await;
    assert!(words.contains("by hand, in a terminal"), "{words}");
    daemon.cli().ok(&["daemon", "stop"]).await;
    assert_eq!(terminal.ended().await, 0);
}
