//! A reply with several calls.

use abide_client::protocol::{inbox::Decision, inbox::Pending, message::CallOutcome, method, task::Status};
use abide_tests::{daemon::WIRES, model_server::Turn, world::World};
use serde_json::json;

#[tokio::test]
async fn task_complete_is_refused_beside_a_call_that_failed() {
    let world = World::start().await;
    let script = [
        Turn::new()
            .call("shell", json!({ "command": "exit 3" }))
            .call("task_complete", json!({ "summary": "Too early." })),
        Turn::done("Now it is."),
    ];
    let task = world.run("refused", script).await;
    let end = world.wait_end(task).await;
    assert_eq!(end.summary.as_deref(), Some("Now it is."));
    let outcomes: Vec<_> = world.get(task).await.calls.into_iter().map(|c| (c.tool, c.outcome)).collect();
    let of = |tool: &str, outcome| (tool.to_owned(), Some(outcome));
    assert_eq!(
        outcomes,
        [
            of("shell", CallOutcome::Done),
            of("task_complete", CallOutcome::Refused),
            of("task_complete", CallOutcome::Done)
        ]
    );
}

#[tokio::test]
async fn unsafe_calls_run_in_the_models_order_and_control_calls_come_last() {
    let world = World::start().await;
    let witness = world.witness();
    let script = [
        Turn::new()
            .call("ask_user", json!({ "question": "Which?" }))
            .call("shell", json!({ "command": witness.command("first") }))
            .call("shell", json!({ "command": witness.command("second") })),
        Turn::done("Done."),
    ];
    let task = world.run("order", script).await;
    world.wait_status(task, Status::WaitingUser).await;
    assert_eq!(witness.marks(), ["first", "second"], "the question comes after the ordinary calls");
    world.answer(task, Some("This one.")).await;
    world.wait_end(task).await;
    assert!(world.model.requests("order")[1].text().contains("This one."));
}

#[tokio::test]
async fn approvals_open_together_and_a_rejection_is_that_calls_result() {
    let world = World::start().await;
    let witness = world.witness();
    let script = [
        Turn::new()
            .call("shell", json!({ "command": witness.command("allowed") }))
            .call("shell", json!({ "command": witness.command("rejected") })),
        Turn::done("Done."),
    ];
    let task = world.run_asking("two", script).await;
    let waiting = world.wait("two approvals", task, |t| t.pending.len() == 2).await;
    assert_eq!(waiting.status, Status::WaitingApproval);
    assert!(witness.marks().is_empty());
    for pending in waiting.pending {
        let Pending::Approval(approval) = pending else { panic!("an approval: {pending:?}") };
        let is_bad = approval.arguments.as_str().contains("rejected");
        let params = method::inbox::DecideApprovalParams {
            approval_id: approval.id.to_string(),
            decision: if is_bad { Decision::RejectOnce } else { Decision::AllowOnce },
            note: is_bad.then(|| "not that one".to_owned()),
            rule: None,
        };
        assert!(world.client.call::<method::DecideApproval>(params).await.unwrap().won);
    }
    world.wait_end(task).await;
    assert_eq!(witness.marks(), ["allowed"]);
    assert!(world.model.requests("two")[1].text().contains("not that one"), "the model reads why");
}

#[tokio::test]
async fn interleaved_arguments_belong_to_their_calls() {
    let world = World::start().await;
    let witness = world.witness();
    let turn = Turn::new()
        .call("shell", json!({ "command": witness.command("a") }))
        .call("shell", json!({ "command": witness.command("b") }))
        .interleaved();
    for (key, model) in WIRES {
        world.model.script(key, [turn.clone(), Turn::done("Done.")]);
        let task = world
            .begin(method::task::StartTaskParams { model: Some(model.to_owned()), ..world.task(key) })
            .await;
        assert_eq!(world.wait_end(task).await.status, Status::Completed);
    }
    assert_eq!(witness.marks(), ["a", "b", "a", "b", "a", "b"]);
}
