//! Approvals of calls.

use abide_client::protocol::{
    inbox::Pending,
    task::{AgentTask, Status},
};
use abide_tests::{
    daemon::Config,
    model_server::{ModelServer, Turn},
    world::World,
};
use serde_json::json;

#[tokio::test]
async fn one_decision_is_enough_for_what_could_not_be_undone() {
    let model = ModelServer::start().await;
    let config = Config::with(&model).policy("");
    let world = World::configured(model, &config).await;
    // More than a checkpoint keeps of a folder that is no repository.
    let video = std::fs::File::create(world.daemon.workspace().join("video")).unwrap();
    video.set_len(4 << 30).unwrap();
    let script = [
        Turn::shell("echo one > file").call("write", json!({ "path": "other", "content": "x" })),
        Turn::shell("echo two > file"),
        Turn::shell("git push"),
        Turn::done("Done."),
    ];
    let task = world.run_asking("undo", script).await;
    world.wait("both calls to ask", task, |task| task.pending.len() == 2).await;
    let cli = world.daemon.cli();
    let inbox = cli.ok(&["inbox"]).await;
    assert!(inbox.contains("200 MiB") && inbox.contains("\"task\" would allow"), "{inbox}");
    let Pending::Approval(first) = world.pending(task).await.remove(0) else { panic!("an approval") };
    cli.ok(&["approve", &first.id.to_string(), "--for-task"]).await;
    let asks = |task: &AgentTask| task.step_count == 3 && task.status == Status::WaitingApproval;
    world.wait("what asks for another reason, too", task, asks).await;
    assert_eq!(std::fs::read_to_string(world.daemon.workspace().join("file")).unwrap(), "two\n");
    let refused = cli.run(&["approve", &task.task_id.to_string(), "--for-task"]).await;
    assert!(refused.code == Some(2) && refused.stderr.contains("does not ask only because"), "{refused:?}");
    cli.ok(&["reject", &task.task_id.to_string()]).await;
    world.wait_end(task).await;
}
