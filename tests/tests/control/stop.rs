//! Stop while the model thinks and while a tool runs: at once, whole, and for good.

use abide_client::protocol::{
    ErrorKind,
    message::{MessageKind, Role},
    method::{
        self,
        task::{StartTaskParams, StartTaskReply},
    },
    task::{EndReason, Status},
};
use abide_tests::{
    model_server::{Gate, Outcome, Turn},
    wait,
    world::{World, named},
};
use serde_json::json;

/// Stops the task: it has ended, none of its work goes on, a message says so, and it stays ended after a
/// crash of the daemon.
async fn stops_for_good(world: &mut World, task: StartTaskReply, key: &str) {
    let stopped = world.stop(task).await;
    assert_eq!(
        (stopped.status, stopped.end_reason),
        (Status::Cancelled, Some(EndReason::Stopped)),
        "{stopped:?}"
    );
    assert!(stopped.pending.is_empty() && stopped.active_calls.is_empty(), "{stopped:?}");
    let commands: Vec<String> = world.daemon.offspring().into_iter().map(|process| process.command).collect();
    assert!(
        !commands.iter().any(|command| command.starts_with("sleep")),
        "killed before the end is recorded: {commands:?}"
    );
    assert!(world.inbox().await.is_empty());
    wait::wait_until("the tool's processes to be gone", async || world.daemon.offspring().is_empty()).await;
    let (messages, _) = world.messages(task.conversation_id).await;
    let last = messages.last().unwrap();
    assert_eq!((last.role, last.kind), (Role::System, MessageKind::Notice), "{last:?}");
    let asked = world.model.requests(key).len();
    world.crash_and_restart().await;
    let after = world.get(task).await.task;
    assert_eq!(
        (after.status, after.end_reason),
        (Status::Cancelled, Some(EndReason::Stopped)),
        "a stop is sticky"
    );
    assert_eq!(world.model.requests(key).len(), asked, "the model is not asked again");
}

#[tokio::test]
async fn while_thinking_the_request_is_cancelled_and_the_shown_text_stays() {
    let mut world = World::start().await;
    let gate = Gate::new("the middle of a reply");
    let script = [Turn::say("Shown so far").gate(&gate).call("shell", json!({ "command": "touch never" }))];
    let task = world.run("thinking", script).await;
    let mut watcher = world.watch(task).await;
    gate.reached().await;
    watcher.wait_output("Shown so far").await;
    stops_for_good(&mut world, task, "thinking").await;
    world
        .model
        .wait_for_requests("the request to be cut", "thinking", |r| r[0].outcome == Outcome::Abandoned)
        .await;
    let (messages, _) = world.messages(task.conversation_id).await;
    let partial = messages.iter().find(|m| m.kind == MessageKind::Partial).expect("what was shown stays");
    assert_eq!(partial.text, "Shown so far");
    assert!(!world.daemon.workspace().join("never").exists());
}

#[tokio::test]
async fn while_a_tool_runs_its_whole_tree_is_killed() {
    let mut world = World::start().await;
    let witness = world.witness();
    let both = Turn::shell(&witness.command_that_hangs("tool"))
        .call("shell", json!({ "command": witness.command("behind it") }));
    let task = world.run("tool", [both, Turn::done("Done.")]).await;
    let mut watcher = world.watch(task).await;
    watcher.wait_output("output of tool").await;
    wait::wait_until("its output to be kept", async || world.daemon.has_kept("output of tool")).await;
    world.wait_status(task, Status::ToolExecuting).await;
    wait::wait_until("both sleeps", async || {
        world.daemon.offspring().iter().filter(|p| p.command.starts_with("sleep 600")).count() == 2
    })
    .await;
    stops_for_good(&mut world, task, "tool").await;
    let call = world.get(task).await.calls.remove(0);
    let result = call.result.expect("a stopped call has a result");
    assert!(result.message.contains("Its output so far:\noutput of tool"), "{result:?}");

    let params = StartTaskParams { conversation_id: Some(task.conversation_id), ..world.task("tool") };
    let next = world.begin(params).await;
    assert_eq!(world.wait_end(next).await.status, Status::Completed);
    assert_eq!(witness.marks(), ["tool"]);
    // The model server refuses calls without results.
    world.model.assert_no_violations();
}

#[tokio::test]
async fn the_refusal_for_an_ended_task_says_when_and_how_it_ended() {
    let world = World::start().await;
    let first = world.run("twice", [Turn::done("Done."), Turn::ask("Really?")]).await;
    world.wait_end(first).await;
    let params = StartTaskParams { conversation_id: Some(first.conversation_id), ..world.task("twice") };
    let second = world.begin(params).await;
    world.wait_status(second, Status::WaitingUser).await;

    let refused = [
        world.client.call::<method::StopTask>(named(first)).await.map(drop),
        world.client.call::<method::PauseTask>(named(first)).await.map(drop),
        world.client.call::<method::ResumeTask>(named(first)).await.map(drop),
    ];
    for refused in refused {
        let error = refused.unwrap_err().daemon().expect("the daemon refuses").clone();
        assert_eq!(error.kind(), ErrorKind::IllegalState, "{error}");
        let is_recent = error.message.ends_with(" s ago") || error.message.ends_with("just now");
        assert!(error.message.contains("has ended already: completed, ") && is_recent, "{error}");
        assert_eq!(error.data.id, Some(first.task_id.to_string()));
    }
    let id = first.task_id.to_string();
    let cli = world.daemon.cli();
    assert_eq!(cli.run(&["stop", &id]).await.code, Some(1));
    let shown = cli.ok(&["show", &id]).await;
    assert!(shown.contains("completed") && shown.contains("ended after"), "{shown}");

    let error = world.client.call::<method::ResumeTask>(named(second)).await.unwrap_err();
    let error = error.daemon().expect("the daemon refuses").clone();
    assert!(error.message.ends_with("is not paused: it is waiting_user"), "{error}");
}
