//! A message after a task's end starts a new task with the same history.

use abide_client::protocol::{method::task::StartTaskParams, task::Status};
use abide_tests::{
    model_server::{Gate, Turn},
    world::World,
};

#[tokio::test]
async fn the_next_task_continues_the_history_with_new_counters() {
    let mut world = World::start().await;
    let script = [
        Turn::shell("echo first-output"),
        Turn::done("The first is done."),
        Turn::say("Now the second."),
        Turn::done("The second is done."),
    ];
    let first = world.run("history", script).await;
    assert_eq!(world.wait_end(first).await.step_count, 2);
    // The history is the same after a crash.
    world.crash_and_restart().await;
    let params = StartTaskParams {
        conversation_id: Some(first.conversation_id),
        message: "And now something else.".to_owned(),
        ..world.task("history")
    };
    let second = world.begin(params).await;
    assert_eq!(second.conversation_id, first.conversation_id);
    assert_ne!(second.task_id, first.task_id);
    let end = world.wait_end(second).await;
    assert_eq!((end.step_count, end.usage.model_calls), (2, 2));
    assert_eq!(end.summary.as_deref(), Some("The second is done."));
    let requests = world.model.requests("history");
    let third = requests[2].text();
    for part in ["first-output", "The first is done.", "And now something else."] {
        assert!(third.contains(part), "{part:?} is missing in {third}");
    }
}

#[tokio::test]
async fn a_task_after_a_stop_in_the_middle_of_a_reply_continues_the_history() {
    let world = World::start().await;
    let gate = Gate::new("half a reply");
    let script = [Turn::say("I was just ").gate(&gate).text("about to"), Turn::done("Done.")];
    let first = world.run("stopped", script).await;
    let mut watcher = world.watch(first).await;
    gate.reached().await;
    watcher.wait_output("I was just ").await;
    assert_eq!(world.stop(first).await.status, Status::Cancelled);
    let params = StartTaskParams {
        conversation_id: Some(first.conversation_id),
        message: "Go on.".to_owned(),
        ..world.task("stopped")
    };
    let second = world.begin(params).await;
    assert_eq!(world.wait_end(second).await.status, Status::Completed);
    let last = world.model.requests("stopped").pop().unwrap().text();
    assert!(
        last.contains("I was just") && !last.contains("about to"),
        "what was shown stays, the rest does not: {last}"
    );
}
