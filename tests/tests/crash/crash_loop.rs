//! The daemon dies three times over one task: the task is paused, and everything that lists what needs the
//! person lists it.

use abide_client::protocol::task::{PauseReason, Status};
use abide_tests::{
    ledger,
    model_server::{Gate, Turn},
    wait::wait_until,
    world::World,
};
use serde_json::json;

/// The recorded requests of the model.
fn requests(world: &World) -> usize {
    ledger::read(&world.daemon.home()).iter().filter(|line| line.kind == "model_requested").count()
}

#[tokio::test]
async fn a_task_that_the_crash_loop_paused_waits_in_the_inbox() {
    let mut world = World::start().await;
    let gate = Gate::new("a reply that never comes");
    let task = world
        .run("loop", [Turn::say("At last.").gate(&gate).call("task_complete", json!({ "summary": "Done." }))])
        .await;
    for deaths in 1..=3 {
        gate.reached_times(deaths).await;
        // A request may leave while its record commits. A death before the commit is not one of this task's.
        wait_until("the request to be recorded", async || requests(&world) == deaths).await;
        world.crash_and_restart().await;
    }
    let paused = world.wait_status(task, Status::Paused).await;
    assert_eq!(paused.pause_reason, Some(PauseReason::CrashLoop));
    assert!(paused.needs_person());
    assert_eq!(world.inbox().await.len(), 1);

    let cli = world.daemon.cli();
    let id = task.task_id.short();
    let inbox = cli.ok(&["inbox"]).await;
    assert!(inbox.contains("ended three times") && inbox.contains("\"go on\""), "{inbox}");
    let ps = cli.ok(&["ps"]).await;
    assert!(ps.contains("needs you: answer (paused: crash loop)"), "{ps}");
    assert!(cli.ok(&["conversations"]).await.contains("needs you"));
    assert!(cli.ok(&["show", &id]).await.contains("ended three times"));
    let status = cli.ok(&["daemon", "status"]).await;
    assert!(status.lines().any(|line| line.split_whitespace().eq(["inbox", "1"])), "{status}");

    cli.ok(&["resume", &id]).await;
    gate.reached_times(4).await;
    assert!(world.inbox().await.is_empty(), "the resume is the answer");
    gate.open();
    world.wait_end(task).await;
}
