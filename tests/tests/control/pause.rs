//! Pause lets what runs finish and begins nothing new.

use abide_client::protocol::task::{PauseReason, Status};
use abide_tests::{
    model_server::{Gate, Turn},
    world::World,
};
use serde_json::json;

#[tokio::test]
async fn a_reply_under_way_finishes_and_its_calls_wait() {
    let mut world = World::start().await;
    let witness = world.witness();
    let gate = Gate::new("the middle of a reply");
    let script = [
        Turn::say("Before, ")
            .gate(&gate)
            .text("after.")
            .call("shell", json!({ "command": witness.command("call") })),
        Turn::done("Done."),
    ];
    let task = world.run("thinking", script).await;
    gate.reached().await;
    world.pause(task).await;
    gate.open();
    let paused = world.wait_status(task, Status::Paused).await;
    assert_eq!(paused.pause_reason, Some(PauseReason::User));
    assert_eq!(world.texts(task.conversation_id).await[1], "Before, after.");
    assert_eq!(witness.count("call"), 0);
    // The pause survives a crash.
    world.crash_and_restart().await;
    assert_eq!(world.get(task).await.task.status, Status::Paused);
    assert_eq!(witness.count("call"), 0);
    world.resume(task).await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert_eq!(witness.count("call"), 1);
}

#[tokio::test]
async fn a_pause_that_waits_for_a_reply_is_shown_and_can_be_revoked() {
    let world = World::start().await;
    let gate = Gate::new("the middle of a reply");
    let script = [
        Turn::say("Before, ").gate(&gate).text("after.").call("shell", json!({ "command": "true" })),
        Turn::done("Done."),
    ];
    let task = world.run("taken back", script).await;
    gate.reached().await;
    world.pause(task).await;
    assert_eq!(world.get(task).await.task.pausing(), Some("pauses after this reply"));
    world.resume(task).await;
    assert_eq!(world.get(task).await.task.pausing(), None);
    gate.open();
    assert_eq!(world.wait_end(task).await.status, Status::Completed, "it did not pause");
}

#[tokio::test]
async fn a_tool_under_way_finishes() {
    let world = World::start().await;
    let fifo = world.daemon.workspace().join("go");
    let task = world
        .run("tool", [Turn::shell("mkfifo go; echo waiting; read x < go; echo got $x"), Turn::done("Done.")])
        .await;
    let mut watcher = world.watch(task).await;
    watcher.wait_output("waiting").await;
    world.pause(task).await;
    std::fs::write(&fifo, "word\n").unwrap();
    world.wait_status(task, Status::Paused).await;
    assert_eq!(world.model.requests("tool").len(), 1, "nothing new begins");
    world.resume(task).await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert!(world.model.requests("tool")[1].text().contains("got word"));
}

#[tokio::test]
async fn a_paused_task_still_takes_answers() {
    let world = World::start().await;
    let task = world.run("answers", [Turn::ask("Which?"), Turn::done("Done.")]).await;
    world.wait_status(task, Status::WaitingUser).await;
    world.pause(task).await;
    assert!(world.answer(task, Some("that")).await);
    world.wait_status(task, Status::Paused).await;
    assert_eq!(world.model.requests("answers").len(), 1);
    world.resume(task).await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
}
