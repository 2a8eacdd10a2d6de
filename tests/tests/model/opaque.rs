//! Opaque provider data comes back unchanged. The server refuses anything else, so these tests look simple.

use abide_client::protocol::method::task::StartTaskParams;
use abide_tests::{
    model_server::{Gate, Outcome, Seen, Turn},
    world::World,
};
use serde_json::json;

/// The models whose providers have reasoning of their own.
const THINKERS: [&str; 2] = ["claude/scripted-1", "responses/scripted-1"];

fn thinks(command: &str) -> Turn {
    Turn::new()
        .reasoning("Hm, let me ")
        .reasoning("think.")
        .redacted()
        .text("So: ")
        .call("shell", json!({ "command": command }))
}

#[tokio::test]
async fn signed_and_encrypted_reasoning_survives_restarts_and_later_tasks() {
    let mut world = World::start().await;
    for model in THINKERS {
        let script = [
            thinks("echo one"),
            thinks("echo two"),
            Turn::new().reasoning("Enough.").call("task_complete", json!({ "summary": "First." })),
            thinks("echo three"),
            Turn::done("Second."),
        ];
        world.model.script(model, script);
        let params = || StartTaskParams { model: Some(model.to_owned()), ..world.task(model) };
        let first = world.begin(params()).await;
        assert_eq!(world.wait_end(first).await.summary.as_deref(), Some("First."), "{model}");
        let again = StartTaskParams { conversation_id: Some(first.conversation_id), ..params() };
        world.crash_and_restart().await;
        let second = world.begin(again).await;
        assert_eq!(world.wait_end(second).await.summary.as_deref(), Some("Second."), "{model}");
        // The daemon may have read the last reply before the server has noticed its end.
        let is_answered = |requests: &[Seen]| requests.iter().all(|r| r.outcome == Outcome::Answered);
        let requests =
            world.model.wait_for_requests("every request to be answered", model, is_answered).await;
        let (messages, _) = world.messages(first.conversation_id).await;
        assert_eq!(messages[1].reasoning.as_deref(), Some("Hm, let me think."), "{model}");
        if model == THINKERS[1] {
            let conversation = json!(first.conversation_id);
            assert!(requests.iter().all(|r| r.body["prompt_cache_key"] == conversation), "one cache for all");
        }
    }
}

/// Reasoning without the item that it led to is refused by OpenAI, and a signature of half a reply by
/// Anthropic.
#[tokio::test]
async fn of_a_stopped_reply_only_the_text_goes_back() {
    let world = World::start().await;
    for model in THINKERS {
        let gate = Gate::new("after the reasoning");
        let half = Turn::new().reasoning("Hm.").text("Shown so far").gate(&gate).text(", and more");
        world.model.script(model, [half, Turn::done("Second.")]);
        let params = || StartTaskParams { model: Some(model.to_owned()), ..world.task(model) };
        let first = world.begin(params()).await;
        let mut watcher = world.watch(first).await;
        gate.reached().await;
        watcher.wait_output("Shown so far").await;
        world.stop(first).await;
        let again = StartTaskParams { conversation_id: Some(first.conversation_id), ..params() };
        let second = world.begin(again).await;
        assert_eq!(world.wait_end(second).await.summary.as_deref(), Some("Second."), "{model}");
        let sent = world.model.last_request(model).unwrap().text();
        assert!(sent.contains("Shown so far") && !sent.contains("Hm."), "{model}: {sent}");
    }
}
