//! kill -9 while an approval is open: the same one is still open; once it is approved, the call runs exactly once.

use abide_client::protocol::{inbox::Decision, task::Status};
use abide_tests::{model_server::Turn, world::World};

#[tokio::test]
async fn an_open_approval_survives_and_the_call_runs_once() {
    let mut world = World::start().await;
    let witness = world.witness();
    let task =
        world.run_asking("approval", [Turn::shell(&witness.command("approval")), Turn::done("Done.")]).await;
    let before = world.wait_status(task, Status::WaitingApproval).await;
    world.crash_and_restart().await;
    let after = world.wait_status(task, Status::WaitingApproval).await;
    assert_eq!(after.pending, before.pending);
    assert_eq!(witness.count("approval"), 0);
    assert!(world.decide(task, Decision::AllowOnce).await);
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert_eq!(witness.count("approval"), 1);
}

/// The daemon dies right after it acknowledged the decision. Whether the call had run, was running or runs now: never twice.
#[tokio::test]
async fn a_crash_around_the_decision_never_runs_it_twice() {
    for round in 0..5 {
        let mut world = World::start().await;
        let witness = world.witness();
        let task =
            world.run_asking("around", [Turn::shell(&witness.command("around")), Turn::done("Done.")]).await;
        world.wait_status(task, Status::WaitingApproval).await;
        assert!(world.decide(task, Decision::AllowOnce).await);
        world.crash_and_restart().await;
        let now = world
            .wait("an end, or a question about the call", task, |t| {
                t.status.has_ended() || t.status == Status::WaitingUser
            })
            .await;
        assert!(witness.count("around") <= 1, "round {round}: ran twice");
        if now.status == Status::WaitingUser {
            world.answer(task, Some("let the agent look")).await;
            world.wait_end(task).await;
        } else {
            assert_eq!(witness.count("around"), 1, "round {round}: an approved call was lost");
        }
    }
}
