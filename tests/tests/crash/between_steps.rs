//! kill -9 between two steps: the next one follows, and nothing runs again.

use abide_client::protocol::task::{AgentTask, Status};
use abide_tests::{model_server::Turn, world::World};

#[tokio::test]
async fn the_next_step_follows_after_a_crash() {
    // Long enough to be seen, and to be cut by the crash, on a busy machine.
    let mut world = World::with_step_delay(6000).await;
    let witness = world.witness();
    let task = world.run("between", [Turn::shell(&witness.command("one")), Turn::done("Done.")]).await;
    let rests = |t: &AgentTask| t.step_count == 1 && t.status == Status::Running && t.active_calls.is_empty();
    world.wait("the end of the first step", task, rests).await;
    assert_eq!(witness.count("one"), 1);
    world.crash_and_restart().await;
    let end = world.wait_end(task).await;
    assert_eq!((end.status, end.step_count), (Status::Completed, 2));
    assert_eq!(witness.count("one"), 1);
    assert_eq!(world.model.requests("between").len(), 2);
}

/// Killed again and again at any moment, a task gets to its end, and every tool runs at most once.
#[tokio::test]
async fn a_task_killed_again_and_again_still_completes() {
    let mut world = World::start().await;
    let witness = world.witness();
    let mut script: Vec<Turn> = (0..12)
        .map(|n| {
            Turn::say(format!("Step {n}."))
                .call("shell", serde_json::json!({ "command": witness.command(&n.to_string()) }))
        })
        .collect();
    script.push(Turn::done("Done."));
    let task = world.run("again", script).await;
    for step in [1, 3, 5, 7, 9] {
        world.wait(&format!("step {step}"), task, |t| t.step_count >= step || t.status.has_ended()).await;
        world.crash_and_restart().await;
    }
    let end = world.wait_end(task).await;
    assert_eq!(end.status, Status::Completed, "{end:?}");
    for mark in witness.marks() {
        assert_eq!(witness.count(&mark), 1, "call {mark} ran twice");
    }
}
