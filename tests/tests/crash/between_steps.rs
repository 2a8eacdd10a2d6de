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
