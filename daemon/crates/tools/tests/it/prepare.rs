//! A prepared call has done nothing, and can be discarded.

use crate::ground::{Ground, wait_until};
use abide_protocol::message::CallOutcome;
use abide_tools::NoSubTasks;
use serde_json::{Value, json};
use std::{fs, path::Path};
use tokio_util::sync::CancellationToken;

fn notes(ground: &Ground) -> Vec<Value> {
    let entries = fs::read_dir(ground.root().join("spool")).unwrap();
    entries.map(|entry| serde_json::from_slice(&fs::read(entry.unwrap().path()).unwrap()).unwrap()).collect()
}

fn helper(ground: &Ground) -> u32 {
    let notes = notes(ground);
    assert_eq!(notes.len(), 1, "one helper is noted");
    notes[0]["pid"].as_u64().unwrap().try_into().unwrap()
}

fn runs(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_command_begins_when_it_is_run() {
    let ground = Ground::unconfined();
    let assessed = ground.assess_one("shell", json!({ "command": "touch begun; echo $PPID" }));
    let prepared = ground.tools.prepare(ground.run(assessed), &ground.sandbox).await;
    let helper = helper(&ground);
    assert!(runs(helper) && ground.tools.is_helper(helper), "its helper waits");
    // The next command has a helper of its own and does not start this one.
    assert!(ground.call("shell", json!({ "command": "true" })).await.result.ok);
    assert!(!ground.path("begun").exists());
    let finished = prepared.run(CancellationToken::new(), Box::new(|_| ()), &NoSubTasks).await;
    assert!(finished.result.ok, "{}", finished.result.message);
    assert!(ground.path("begun").exists());
    assert_eq!(crate::ground::data(&finished)["stdout"], format!("{helper}\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discarded_call_leaves_nothing() {
    let ground = Ground::new();
    let assessed = ground.assess_one("shell", json!({ "command": "touch begun" }));
    let prepared = ground.tools.prepare(ground.run(assessed.clone()), &ground.sandbox).await;
    let first = helper(&ground);
    prepared.discard().await;
    wait_until("its helper to end", || !runs(first)).await;
    assert_eq!(notes(&ground), Vec::<Value>::new());
    assert!(!ground.tools.is_helper(first));

    let prepared = ground.tools.prepare(ground.run(assessed), &ground.sandbox).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let finished = prepared.run(cancel, Box::new(|_| ()), &NoSubTasks).await;
    assert_eq!(finished.outcome, CallOutcome::Cancelled);
    assert_eq!(notes(&ground), Vec::<Value>::new());
    assert!(!ground.path("begun").exists());
}

/// The commit may take long, on a full disk say, and the helper may die meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_helper_that_dies_before_its_order_is_replaced() {
    let ground = Ground::new();
    let assessed = ground.assess_one("shell", json!({ "command": "echo x >> begun" }));
    let prepared = ground.tools.prepare(ground.run(assessed), &ground.sandbox).await;
    let first = helper(&ground);
    #[expect(clippy::disallowed_methods, reason = "what befalls the process under test")]
    let killed = std::process::Command::new("kill").args(["-KILL", &first.to_string()]).status();
    assert!(killed.unwrap().success());
    wait_until("it to be dead", || !runs(first)).await;
    let finished = prepared.run(CancellationToken::new(), Box::new(|_| ()), &NoSubTasks).await;
    assert!(finished.result.ok, "{}", finished.result.message);
    assert_eq!(ground.text("begun"), "x\n", "it ran once");
    assert_ne!(helper(&ground), first, "who it is, is noted");
}
