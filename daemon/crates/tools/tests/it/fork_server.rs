//! The fork server may die at any time, and is gone after `close`.

use crate::ground::{Ground, data, processes, token, wait_until};
use abide_protocol::message::CallOutcome;
use serde_json::json;
use std::path::Path;

/// Prints the process id of the fork server, the parent of the shell's parent.
const SERVER: &str = "read -r _ _ _ server _ < /proc/$PPID/stat; echo $server";

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_fork_server_is_replaced_and_frees_no_command() {
    let (ground, token) = (Ground::unconfined(), token());
    let running = ground.start(&format!("{SERVER}; kill -9 $server; sleep {token}"));
    wait_until("the first to run on", || processes(&token).len() == 1).await;
    // The command prints before it sleeps; its output may arrive later.
    wait_until("the server's number to arrive", || running.output().ends_with('\n')).await;
    let killed: u32 = running.output().trim().parse().unwrap();
    wait_until("the server to be dead", || has_ended(killed)).await;
    let next = ground.call("shell", json!({ "command": SERVER })).await;
    assert!(next.result.ok, "{}", next.result.message);
    assert_ne!(data(&next)["stdout"], format!("{killed}\n"), "another one has taken its place");
    assert_eq!(processes(&token).len(), 1, "what ran goes on");
    assert_eq!(running.cancel().await.outcome, CallOutcome::Cancelled);
    assert_eq!(processes(&token), Vec::<u32>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_fork_server_serves_all_commands_until_closed() {
    let ground = Ground::unconfined();
    let mut servers = Vec::new();
    for _ in 0..3 {
        servers.push(data(&ground.call("shell", json!({ "command": SERVER })).await)["stdout"].clone());
    }
    assert_eq!(servers[0], servers[2]);
    ground.tools.close();
    let server = servers[0].as_str().unwrap().trim();
    assert!(!Path::new("/proc").join(server).exists(), "it was waited for");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_halted_fork_server_is_replaced() {
    let (ground, token) = (Ground::unconfined(), token());
    let running = ground.start(&format!("{SERVER}; kill -STOP $server; sleep {token}"));
    wait_until("it to be halted", || processes(&token).len() == 1).await;
    wait_until("the server's number to arrive", || running.output().ends_with('\n')).await;
    let halted = running.output();
    let next = ground.call("shell", json!({ "command": SERVER })).await;
    assert!(next.result.ok, "{}", next.result.message);
    assert_ne!(data(&next)["stdout"], halted);
    assert!(!Path::new("/proc").join(halted.trim()).exists(), "it was killed, and waited for");
    assert_eq!(running.cancel().await.outcome, CallOutcome::Cancelled);
}

fn has_ended(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.is_empty() || stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z"))
}
