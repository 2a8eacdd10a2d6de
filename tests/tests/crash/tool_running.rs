//! kill -9 while a tool runs: an unsafe call is never run again by itself, and its processes are gone.

use abide_client::protocol::{
    inbox::{Decision, Pending, QuestionKind},
    message::CallOutcome,
    method::task::StartTaskReply,
    task::Status,
};
use abide_tests::{model_server::Turn, wait, world::World};
use serde_json::json;

/// Kills the daemon while the first call hangs, restarts it, and waits for that call's result.
async fn dies_with_the_tool(world: &mut World, task: StartTaskReply, mark: &str) {
    let mut watcher = world.watch(task).await;
    watcher.wait_output(&format!("output of {mark}")).await;
    wait::wait_until("both sleeps", async || {
        world.daemon.offspring().iter().filter(|p| p.command.starts_with("sleep 600")).count() == 2
    })
    .await;
    let output = format!("output of {mark}");
    wait::wait_until("its output to be kept", async || world.daemon.has_kept(&output)).await;
    world.daemon.kill();
    wait::wait_until("the tool to die with the daemon", async || world.daemon.offspring().is_empty()).await;
    world.daemon.up().await;
    world.client = world.daemon.client().await;
    let call = wait::wait_for("the interrupted call's result", async || {
        world.get(task).await.calls.into_iter().next().filter(|call| call.outcome.is_some())
    })
    .await;
    assert_eq!(call.outcome, Some(CallOutcome::Interrupted), "{call:?}");
    assert!(call.result.is_some_and(|r| !r.ok && r.message.contains(&output)), "the output so far is kept");
}

#[tokio::test]
async fn the_model_gets_an_interrupted_result_with_the_output_and_the_task_goes_on() {
    let mut world = World::start().await;
    let witness = world.witness();
    let script = [
        Turn::new()
            .call("shell", json!({ "command": witness.command_that_hangs("hangs") }))
            .call("shell", json!({ "command": witness.command("next") })),
        Turn::done("Looked at it."),
    ];
    let task = world.run("told", script).await;
    dies_with_the_tool(&mut world, task, "hangs").await;
    let end = world.wait_end(task).await;
    assert_eq!((end.status, end.summary.as_deref()), (Status::Completed, Some("Looked at it.")));
    assert_eq!(witness.marks(), ["hangs", "next"], "the one that had not begun runs, once");
    let told = world.model.requests("told").pop().unwrap().text();
    assert!(told.contains("nterrupted") && told.contains("output of hangs"), "{told}");
}

#[tokio::test]
async fn an_interrupted_call_that_a_person_had_approved_opens_a_question() {
    let mut world = World::start().await;
    let witness = world.witness();
    let script = [Turn::shell(&witness.command_that_hangs("approved")), Turn::done("Done.")];
    let task = world.run_asking("approved", script).await;
    world.wait_status(task, Status::WaitingApproval).await;
    assert!(world.decide(task, Decision::AllowOnce).await);
    dies_with_the_tool(&mut world, task, "approved").await;
    let waiting = world.wait_status(task, Status::WaitingUser).await;
    let [Pending::Question(question)] = &waiting.pending[..] else {
        panic!("one question: {:?}", waiting.pending)
    };
    assert_eq!(question.kind, QuestionKind::Interrupted);
    assert_eq!(world.model.requests("approved").len(), 1, "the model waits for the person");
    assert!(world.answer(task, Some("it happened")).await);
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert_eq!(witness.count("approved"), 1);
    assert!(world.model.requests("approved")[1].text().contains("it happened"));
}
