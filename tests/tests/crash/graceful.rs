//! A daemon that is told to end: nothing is lost, and its successor goes on.

use abide_client::protocol::task::Status;
use abide_tests::{
    model_server::{Gate, Turn},
    world::World,
};

#[tokio::test]
async fn in_the_middle_of_a_reply_it_is_asked_again() {
    let mut world = World::start().await;
    let gate = Gate::new("the middle of a reply");
    let task =
        world.run("reply", [Turn::say("Half").gate(&gate).text(" and half."), Turn::done("Done.")]).await;
    gate.reached().await;
    assert!(world.daemon.stop().await.success());
    world.daemon.up().await;
    world.client = world.daemon.client().await;
    gate.reached_times(2).await;
    gate.open();
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert_eq!(world.texts(task.conversation_id).await[1], "Half and half.");
}

#[tokio::test]
async fn a_tool_that_does_not_end_in_time_is_killed_and_not_run_again() {
    let mut world = World::start().await;
    let witness = world.witness();
    let task =
        world.run("tool", [Turn::shell(&witness.command_that_hangs("tool")), Turn::done("Done.")]).await;
    let mut watcher = world.watch(task).await;
    watcher.hears("output of tool").await;
    assert!(world.daemon.stop().await.success());
    assert!(world.daemon.offspring().is_empty(), "{:?}", world.daemon.offspring());
    world.daemon.up().await;
    world.client = world.daemon.client().await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert_eq!(witness.count("tool"), 1);
}

#[tokio::test]
async fn a_tool_that_ends_in_time_is_let_finish() {
    let mut world = World::start().await;
    let task =
        world.run("short", [Turn::shell("echo begun; sleep 1; echo ended"), Turn::done("Done.")]).await;
    let mut watcher = world.watch(task).await;
    watcher.hears("begun").await;
    assert!(world.daemon.stop().await.success());
    world.daemon.up().await;
    world.client = world.daemon.client().await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    let told = world.model.requests("short").pop().unwrap().text();
    assert!(told.contains("ended") && !told.contains("nterrupted"), "{told}");
}
