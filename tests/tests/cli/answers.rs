//! Answering from another shell.

use abide_client::protocol::task::Status;
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
