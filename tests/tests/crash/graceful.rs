//! A daemon that is told to stop: nothing is lost, and the next daemon goes on.

use abide_client::protocol::task::Status;
use abide_tests::{
    model_server::{Gate, Turn},
    world::World,
};

#[tokio::test]
async fn a_tool_that_ends_in_time_finishes() {
    let mut world = World::start().await;
    let task =
        world.run("short", [Turn::shell("echo begun; sleep 1; echo ended"), Turn::done("Done.")]).await;
    let mut watcher = world.watch(task).await;
    watcher.wait_output("begun").await;
    assert!(world.daemon.stop().await.success());
    world.daemon.up().await;
    world.client = world.daemon.client().await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    let told = world.model.requests("short").pop().unwrap().text();
    assert!(told.contains("ended") && !told.contains("nterrupted"), "{told}");
}

#[tokio::test]
async fn a_stop_prints_what_it_cut_off_and_a_second_stop_finds_no_daemon() {
    let mut world = World::start().await;
    let witness = world.witness();
    let gate = Gate::new("the reply after the cut");
    let half = Turn::say("Half").gate(&gate).text(" and half.");
    let script = [Turn::shell(&witness.command_that_hangs("tool")), half, Turn::done("Done.")];
    let task = world.run("cut", script).await;
    let mut watcher = world.watch(task).await;
    watcher.wait_output("output of tool").await;
    let cli = world.daemon.cli();
    let stopped = cli.run(&["daemon", "stop"]).await;
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert!(stopped.stderr.contains("1 task at work: up to 5 s"), "{stopped:?}");
    let says = |part: &str| stopped.stdout.contains(part);
    assert!(says(&format!("cut off: {}", task.task_id.short())) && says("shell"), "{stopped:?}");
    assert!(says("what it did is unknown") && says("1 goes on"), "{stopped:?}");
    assert!(world.daemon.ended().await.success());
    assert!(world.daemon.offspring().is_empty(), "{:?}", world.daemon.offspring());
    let again = cli.run(&["daemon", "stop"]).await;
    assert!(again.code == Some(0) && again.stdout.contains("not running"), "{again:?}");

    world.daemon.up().await;
    world.client = world.daemon.client().await;
    gate.reached().await;
    let stopped = cli.json(&["daemon", "stop"]).await;
    assert_eq!(stopped["cut"][0]["work"], "model_call", "{stopped}");
    assert_eq!(stopped["tasks"], serde_json::json!({ "running": 1, "waiting": 0, "paused": 0 }));
    assert!(world.daemon.ended().await.success());

    // The reply is requested again, the command is not run again.
    world.daemon.up().await;
    world.client = world.daemon.client().await;
    gate.reached_times(2).await;
    gate.open();
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert_eq!(witness.count("tool"), 1);
    assert!(world.texts(task.conversation_id).await.contains(&"Half and half.".to_owned()));
}
