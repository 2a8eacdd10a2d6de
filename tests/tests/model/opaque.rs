//! Opaque provider data comes back unchanged. The server refuses anything else, so these tests look simple.

use abide_client::protocol::{method::task::StartTaskParams, task::Status};
use abide_tests::{
    model_server::{Outcome, Turn},
    world::World,
};
use serde_json::json;

#[tokio::test]
async fn signatures_and_redacted_thinking_survive_restarts_and_later_tasks() {
    let mut world = World::start().await;
    let thinks = |command: &str| {
        Turn::new()
            .reasoning("Hm, let me ")
            .reasoning("think.")
            .redacted()
            .text("So: ")
            .call("shell", json!({ "command": command }))
    };
    let script = [
        thinks("echo one"),
        thinks("echo two"),
        Turn::new().reasoning("Enough.").call("task_complete", json!({ "summary": "First." })),
        thinks("echo three"),
        Turn::done("Second."),
    ];
    world.model.script("opaque", script);
    let params = || StartTaskParams { model: Some("claude/scripted-1".to_owned()), ..world.task("opaque") };
    let first = world.begin(params()).await;
    assert_eq!(world.wait_end(first).await.summary.as_deref(), Some("First."));
    let again = StartTaskParams { conversation_id: Some(first.conversation_id), ..params() };
    world.crash_and_restart().await;
    let second = world.begin(again).await;
    assert_eq!(world.wait_end(second).await.summary.as_deref(), Some("Second."));
    assert!(world.model.requests("opaque").iter().all(|r| r.outcome == Outcome::Answered));
    let (messages, _) = world.messages(first.conversation_id).await;
    assert_eq!(messages[1].reasoning.as_deref(), Some("Hm, let me think."));
}

#[tokio::test]
async fn extra_content_of_openai_calls_comes_back() {
    let mut world = World::start().await;
    let script = [
        Turn::new()
            .call("shell", json!({ "command": "echo one" }))
            .call("read", json!({ "path": "nothing" })),
        Turn::ask("Go on?"),
        Turn::done("Done."),
    ];
    let task = world.run("extra", script).await;
    world.wait_status(task, Status::WaitingUser).await;
    world.crash_and_restart().await;
    world.answer(task, Some("yes")).await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    let last = world.model.requests("extra").pop().unwrap().text();
    assert!(last.contains("thought_signature"), "{last}");
}
