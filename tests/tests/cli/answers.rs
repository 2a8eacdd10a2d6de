//! Answering from another shell.

use abide_client::protocol::{
    inbox::{Pending, PendingId},
    task::Status,
};
use abide_tests::{model_server::Turn, world::World};

#[tokio::test]
async fn inbox_answer_approve_and_reject() {
    let world = World::start().await;
    let witness = world.witness();
    let script = [
        Turn::ask("Red or blue?"),
        Turn::shell(&witness.command("yes")),
        Turn::shell(&witness.command("no")),
        Turn::done("Done."),
    ];
    let task = world.run_asking("cli", script).await;
    let cli = world.daemon.cli();
    let id = task.task_id.short();
    world.wait_status(task, Status::WaitingUser).await;
    let inbox = cli.json(&["inbox"]).await;
    assert!(inbox.to_string().contains("Red or blue?"), "{inbox}");
    cli.ok(&["answer", &id, "blue"]).await;
    world
        .wait("the first approval", task, |t| t.status == Status::WaitingApproval && t.step_count == 2)
        .await;
    cli.ok(&["approve", &id]).await;
    world
        .wait("the second approval", task, |t| t.status == Status::WaitingApproval && t.step_count == 3)
        .await;
    cli.ok(&["reject", &id, "--note", "not now"]).await;
    world.wait_end(task).await;
    assert_eq!(witness.marks(), ["yes"]);
    let last = world.model.requests("cli").pop().unwrap().text();
    assert!(last.contains("blue") && last.contains("not now"), "{last}");
}

/// The second to decide gets the decision that counts, and exits with success if it is the one it wanted.
#[tokio::test]
async fn the_first_decision_counts() {
    let world = World::start().await;
    let witness = world.witness();
    let script = [Turn::shell(&witness.command("once")), Turn::ask("Red or blue?"), Turn::done("Done.")];
    let task = world.run_asking("second", script).await;
    let waiting = world.wait_status(task, Status::WaitingApproval).await;
    let approval = match &waiting.pending[..] {
        [Pending::Approval(approval)] => approval.id.to_string(),
        pending => panic!("one approval: {pending:?}"),
    };
    let cli = world.daemon.cli();
    let allowed = cli.ok(&["approve", &approval]).await;
    assert!(allowed.starts_with("allowed: ") && allowed.contains("once"), "{allowed:?}");
    let again = cli.run(&["approve", &approval]).await;
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.stdout.starts_with("already allowed "), "{again:?}");
    let other = cli.run(&["reject", &approval]).await;
    assert_eq!(other.code, Some(1), "{other:?}");
    assert!(other.stderr.contains("already allowed") && other.stderr.contains("did not count"), "{other:?}");
    let remembered = cli.run(&["approve", "--always", &approval]).await;
    assert_eq!(remembered.code, Some(1), "{remembered:?}");
    assert!(remembered.stderr.contains("nothing is remembered"), "{remembered:?}");
    let json = cli.run(&["reject", &approval, "--json"]).await;
    assert_eq!(json.code, Some(1), "{json:?}");
    assert!(json.stdout.contains("\"won\": false") && json.stdout.contains("firstAt"), "{json:?}");
    let id = task.task_id.short();
    let by_task = cli.run(&["approve", &id]).await;
    assert_eq!(by_task.code, Some(0), "{by_task:?}");
    assert!(by_task.stdout.starts_with("already allowed "), "{by_task:?}");
    world.wait_status(task, Status::WaitingUser).await;
    let question = world.pending(task).await[0].id();
    let PendingId::Question(question) = question else { panic!("a question: {question:?}") };
    let question = question.short();
    cli.ok(&["answer", &question, "blue"]).await;
    world.wait_end(task).await;
    assert_eq!(witness.marks(), ["once"]);
    let again = cli.run(&["answer", &question, "blue"]).await;
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.stdout.starts_with("already answered ") && again.stdout.contains("blue"), "{again:?}");
    let by_task = cli.run(&["answer", &id, "blue"]).await;
    assert!(by_task.code == Some(0) && by_task.stdout.starts_with("already answered "), "{by_task:?}");
    let other = cli.run(&["answer", &question, "red"]).await;
    assert_eq!(other.code, Some(1), "{other:?}");
    assert!(other.stderr.contains("blue; your answer did not count"), "{other:?}");
    let approval = cli.run(&["answer", &approval, "red"]).await;
    assert!(approval.stderr.contains("approve or reject it"), "{approval:?}");
    let nothing = cli.run(&["answer", "00000000", "red"]).await;
    assert!(nothing.stderr.contains("no open question is 00000000"), "{nothing:?}");
}
