//! The fork server may die at any time, and is gone after `close`.

use crate::ground::{Ground, data, processes, token, wait_until};
use abide_protocol::message::CallOutcome;
use rustix::process::{Pid, Signal, kill_process};
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
async fn a_helper_killed_while_it_waits_is_replaced() {
    let ground = Ground::unconfined();
    let mut killed = String::new();
    for _ in 0..2 {
        let finished = ground.call("shell", json!({ "command": format!("{SERVER}; echo $PPID") })).await;
        let said = data(&finished)["stdout"].clone();
        let [server, helper] = said.as_str().unwrap().lines().collect::<Vec<_>>()[..] else {
            panic!("two process ids: {said}")
        };
        assert_ne!(helper, killed);
        wait_until(
            "the next helper to wait alone",
            || matches!(&children(server)[..], [next] if next != helper),
        )
        .await;
        killed = children(server).remove(0);
        kill_process(Pid::from_raw(killed.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
        wait_until("it to be dead", || children(server).is_empty()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_halted_fork_server_is_replaced() {
    let (ground, token) = (Ground::unconfined(), token());
    let running = ground.start(&format!("{SERVER}; kill -STOP $server; sleep {token}"));
    wait_until("it to be halted", || processes(&token).len() == 1).await;
    wait_until("the server's number to arrive", || running.output().ends_with('\n')).await;
    let halted = running.output();
    // The first of them may take a helper that was requested before.
    let mut last = halted.clone();
    for _ in 0..2 {
        let next = ground.call("shell", json!({ "command": SERVER })).await;
        assert!(next.result.ok, "{}", next.result.message);
        last = data(&next)["stdout"].as_str().unwrap().to_owned();
    }
    assert_ne!(last, halted);
    assert!(!Path::new("/proc").join(halted.trim()).exists(), "it was killed, and waited for");
    assert_eq!(running.cancel().await.outcome, CallOutcome::Cancelled);
}

/// The children of this process that still run.
fn children(pid: &str) -> Vec<String> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let runs = |child: &&str| !has_ended(child.parse().unwrap());
    children.split_whitespace().filter(runs).map(str::to_owned).collect()
}

fn has_ended(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.is_empty() || stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z"))
}
