//! Approvals of calls.

use abide_client::protocol::{
    inbox::{Decision, Pending},
    method::task::StartTaskParams,
    task::{AgentTask, Approvals, Status},
};
use abide_tests::{
    daemon::Config,
    model_server::{ModelServer, Turn},
    world::World,
};
use serde_json::json;

#[tokio::test]
async fn an_approval_shows_exactly_what_would_run() {
    let world = World::start().await;
    let script =
        [Turn::new().call("write", json!({ "path": "a.txt", "content": "new\n" })), Turn::done("Done.")];
    let task = world.run_asking("shows", script).await;
    let waiting = world.wait_status(task, Status::WaitingApproval).await;
    let [Pending::Approval(approval)] = &waiting.pending[..] else {
        panic!("one approval: {:?}", waiting.pending)
    };
    assert_eq!((approval.tool.as_str(), approval.sandbox.as_str()), ("write", "none"));
    assert_eq!(approval.workspace, world.daemon.workspace().display().to_string());
    assert!(approval.preview.as_ref().is_some_and(|p| p.diff.contains("+new")), "{approval:?}");
    assert_eq!(approval.digest.len(), 64);
    assert!(!world.daemon.workspace().join("a.txt").exists());
    assert!(world.decide(task, Decision::AllowOnce).await);
    world.wait_end(task).await;
    assert!(world.daemon.workspace().join("a.txt").exists());
}

#[tokio::test]
async fn reads_do_not_ask() {
    let world = World::start().await;
    std::fs::write(world.daemon.workspace().join("a.txt"), "the secret word is plum").unwrap();
    let script =
        [Turn::new().call("read", json!({ "path": "a.txt" })).call("list", json!({})), Turn::done("Done.")];
    let task = world.run_asking("reads", script).await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert!(world.model.requests("reads")[1].text().contains("plum"));
}

#[tokio::test]
async fn allow_always_covers_this_tool_with_these_arguments_in_this_workspace() {
    let mut world = World::start().await;
    let witness = world.witness();
    let same = witness.command("same");
    let script = || {
        [Turn::shell(&same), Turn::shell(&same), Turn::shell(&witness.command("other")), Turn::done("Done.")]
    };
    let task = world.run_asking("always", script()).await;
    world.wait_status(task, Status::WaitingApproval).await;
    assert!(world.decide(task, Decision::AllowAlways).await);
    world
        .wait("the other call to ask", task, |t| t.step_count == 3 && t.status == Status::WaitingApproval)
        .await;
    assert_eq!(witness.marks(), ["same", "same"]);
    world.decide(task, Decision::RejectAlways).await;
    world.wait_end(task).await;
    // The rule is kept across a crash and applies in another conversation.
    world.crash_and_restart().await;
    let again = world.run_asking("again", script()).await;
    assert_eq!(world.wait_end(again).await.status, Status::Completed);
    assert_eq!(witness.marks(), ["same", "same", "same", "same"], "neither asked: one allowed, one denied");
}

/// A model words its reason anew each time.
#[tokio::test]
async fn allow_always_covers_a_command_outside_of_the_sandbox_whatever_its_reason() {
    let world = World::start().await;
    let witness = world.witness();
    let outside = |mark: &str, reason: &str| {
        // It must not name the file but to write it: then it would be allowed only once.
        let command = format!("echo {mark} >> witness");
        Turn::new().call("shell", json!({ "command": command, "outside": true, "reason": reason }))
    };
    let script = [
        outside("same", "It needs the network."),
        outside("same", "It fetches the page."),
        outside("other", "It needs the network."),
        Turn::done("Done."),
    ];
    let task = world.run_asking("reasons", script).await;
    world.wait_status(task, Status::WaitingApproval).await;
    assert!(world.decide(task, Decision::AllowAlways).await);
    world
        .wait("the other call to ask", task, |t| t.step_count == 3 && t.status == Status::WaitingApproval)
        .await;
    assert_eq!(witness.marks(), ["same", "same"]);
}

#[tokio::test]
async fn of_two_decisions_at_once_one_counts() {
    let world = World::start().await;
    let witness = world.witness();
    for round in 0..10 {
        let (key, mark) = (format!("race-{round}"), format!("mark-{round}"));
        let script = [Turn::shell(&witness.command(&mark)), Turn::done("Done.")];
        world.model.script(&key, script);
        let task = world.begin(StartTaskParams { approvals: Approvals::Ask, ..world.task(&key) }).await;
        world.wait_status(task, Status::WaitingApproval).await;
        let waiting = world.pending(task).await;
        let [Pending::Approval(approval)] = &waiting[..] else { panic!("one approval: {waiting:?}") };
        let decide = |decision| {
            let params = abide_client::protocol::method::inbox::DecideApprovalParams {
                approval_id: approval.id.to_string(),
                decision,
                note: None,
                rule: None,
            };
            world.client.call::<abide_client::protocol::method::DecideApproval>(params)
        };
        let (yes, no) = tokio::join!(decide(Decision::AllowOnce), decide(Decision::RejectOnce));
        let (yes, no) = (yes.unwrap(), no.unwrap());
        assert!(yes.won != no.won, "exactly one wins: {yes:?} {no:?}");
        assert_eq!(yes.decision, no.decision, "both learn what counts");
        world.wait_end(task).await;
        assert_eq!(witness.count(&mark), usize::from(yes.won));
    }
}

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
