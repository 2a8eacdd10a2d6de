//! kill -9 while Python code runs: as for a shell command, it is not run again, and its processes are gone.

use abide_client::protocol::{
    inbox::{Decision, Pending, QuestionKind},
    message::CallOutcome,
    task::Status,
};
use abide_tests::{model_server::Turn, wait, world::World};
use serde_json::json;

#[tokio::test]
async fn code_that_was_interrupted_is_not_run_again_and_the_person_who_approved_it_is_asked() {
    let mut world = World::start().await;
    let witness = world.witness();
    let code = format!(
        "import subprocess\nprint('begun', end='')\nsubprocess.run(['bash', '-c', {:?}])",
        witness.command_that_hangs("code")
    );
    let script = [Turn::new().call("python", json!({ "code": code })), Turn::done("Done.")];
    let task = world.run_asking("python", script).await;
    world.wait_status(task, Status::WaitingApproval).await;
    assert!(world.decide(task, Decision::AllowOnce).await);
    world.watch(task).await.wait_output("output of code").await;
    wait::wait_until("both sleeps", async || {
        world.daemon.offspring().iter().filter(|p| p.command.starts_with("sleep 600")).count() == 2
    })
    .await;
    wait::wait_until("its output to be kept", async || world.daemon.has_kept("output of code")).await;
    world.daemon.kill();
    wait::wait_until("the code to die with the daemon", async || world.daemon.offspring().is_empty()).await;
    world.daemon.up().await;
    world.client = world.daemon.client().await;

    let waiting = world.wait_status(task, Status::WaitingUser).await;
    let [Pending::Question(question)] = &waiting.pending[..] else {
        panic!("one question: {:?}", waiting.pending)
    };
    assert_eq!(question.kind, QuestionKind::Interrupted);
    let call = world.get(task).await.calls.remove(0);
    assert_eq!(call.outcome, Some(CallOutcome::Interrupted), "{call:?}");
    let result = call.result.unwrap();
    assert!(!result.ok && result.message.contains("begun"), "the output so far is kept: {result:?}");
    assert_eq!(world.model.requests("python").len(), 1, "the model waits for the person");
    assert!(world.answer(task, Some("it happened")).await);
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert_eq!(witness.marks(), ["code"], "it ran once");
}
