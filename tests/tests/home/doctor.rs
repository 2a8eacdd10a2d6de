//! What `abide doctor` says, and does.

use abide_client::protocol::{method::task::StartTaskParams, task::Status};
use abide_tests::{model_server::Turn, world::World};
use serde_json::Value;
use std::fs;

fn health<'a>(findings: &'a Value, about: &str) -> &'a str {
    let of = |finding: &&Value| finding["about"] == about;
    findings.as_array().unwrap().iter().find(of).expect(about)["health"].as_str().unwrap()
}

#[tokio::test]
async fn it_looks_at_everything_beside_a_running_daemon() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let findings = cli.json(&["doctor"]).await;
    for about in ["home", "daemon", "socket", "database", "disk", "config", "provider", "default model"] {
        assert_eq!(health(&findings, about), "good", "{about}: {findings}");
    }
    assert_eq!(health(&findings, "sandbox"), "noted");
    let text = cli.ok(&["doctor"]).await;
    assert!(text.contains("✓ database: sound"), "{text}");
}

#[tokio::test]
async fn a_rebuild_finds_everything_equal_and_a_backup_is_whole() {
    let mut world = World::start().await;
    let first = [Turn::say("Well."), Turn::shell("true"), Turn::done("Done.")];
    let second = [Turn::shell("false"), Turn::ask("Well?")];
    let ended = world.run("twice", first.into_iter().chain(second).collect::<Vec<_>>()).await;
    world.wait_end(ended).await;
    let params = StartTaskParams { conversation_id: Some(ended.conversation_id), ..world.task("twice") };
    let waits = world.begin(params).await;
    world.wait_status(waits, Status::WaitingUser).await;
    let asks = world.run_asking("asks", [Turn::shell("true")]).await;
    world.wait_status(asks, Status::WaitingApproval).await;
    let cli = world.daemon.cli();

    let copy = world.daemon.workspace().join("copy.db");
    cli.ok(&["doctor", "--backup", copy.to_str().unwrap()]).await;
    let running = cli.run(&["doctor", "--rebuild"]).await;
    assert_eq!(running.code, Some(1), "{running:?}");
    assert!(running.stderr.contains("abide daemon stop"), "{running:?}");

    let before = cli.json(&["ps", "--all"]).await;
    world.daemon.stop().await;
    let rebuilt = cli.json(&["doctor", "--rebuild"]).await;
    assert_eq!(rebuilt, serde_json::json!({ "conversations": 2, "different": [] }));
    world.daemon.up().await;
    assert_eq!(cli.json(&["ps", "--all"]).await, before);

    world.daemon.stop().await;
    fs::copy(&copy, world.daemon.home().database()).unwrap();
    world.daemon.up().await;
    assert_eq!(cli.json(&["ps", "--all"]).await, before, "the backup has it all");
}

#[tokio::test]
async fn what_does_not_work_is_said_with_a_way_out() {
    let mut world = World::start().await;
    world.daemon.stop().await;
    let cli = world.daemon.cli();
    let database = world.daemon.home().database();
    fs::write(&database, "this is not a database, but somebody may want to have it").unwrap();
    fs::write(world.daemon.home().config_file(), "[task]\nmax_stepps = 3\n").unwrap();
    let sick = cli.run(&["doctor"]).await;
    assert_eq!(sick.code, Some(1), "{sick:?}");
    assert!(sick.stdout.contains("✗ database:") && sick.stdout.contains("move it away"), "{sick:?}");
    assert!(sick.stdout.contains("✗ config:") && sick.stdout.contains("max_stepps"), "{sick:?}");
    assert!(fs::read_to_string(&database).unwrap().starts_with("this is not"), "it changes nothing");
}
