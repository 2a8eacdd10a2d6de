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
    assert_eq!(world.get(task).await.task.pausing(), Some("pauses after this reply"));
    world.resume(task).await;
    assert_eq!(world.get(task).await.task.pausing(), None, "it can be revoked");
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
