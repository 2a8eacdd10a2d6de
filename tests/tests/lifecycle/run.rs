//! A task from its prompt to its end, followed live.

use abide_client::{
    Client,
    protocol::{
        codec::Codec,
        message::{MessageKind, Role},
        method::{self, subscription::Scope, task::GetTaskReply},
        record::RecordBody,
        task::{EndReason, Mode, Status},
    },
};
use abide_tests::{
    ledger,
    model_server::{Gate, Turn},
    watcher::{Fact, Watcher},
    world::{World, named},
};
use serde_json::json;

async fn runs_to_its_end(world: &World, client: &Client, key: &str) {
    let witness = world.witness();
    let script = [
        Turn::say("I will look ").text("first.").call("shell", json!({ "command": witness.command(key) })),
        Turn::new().call("write", json!({ "path": format!("{key}.txt"), "content": "hello\n" })),
        Turn::done("Looked, and wrote a file."),
    ];
    world.model.script(key, script);
    let task = client.call::<method::StartTask>(world.task(key)).await.unwrap();
    let end = world.wait_end(task).await;

    assert_eq!((end.status, end.end_reason), (Status::Completed, Some(EndReason::Completed)), "{end:?}");
    assert_eq!(end.summary.as_deref(), Some("Looked, and wrote a file."));
    assert_eq!(end.step_count, 3);
    assert_eq!(end.usage.model_calls, 3);
    assert_eq!(end.usage.tokens(), 3 * 110);
    assert_eq!(end.usage.cache_read, 3 * 40);
    assert_eq!(witness.count(key), 1, "{:?}", world.get(task).await.calls[0].result.as_ref().unwrap().text());
    let written = std::fs::read_to_string(world.daemon.workspace().join(format!("{key}.txt"))).unwrap();
    assert_eq!(written, "hello\n");

    let GetTaskReply { calls, task: whole, .. } =
        client.call::<method::GetTask>(named(task).into()).await.unwrap();
    assert_eq!(whole.original_prompt, world.task(key).message);
    let tools: Vec<_> = calls.iter().map(|c| (c.tool.as_str(), c.result.as_ref().map(|r| r.ok))).collect();
    assert_eq!(tools, [("shell", Some(true)), ("write", Some(true)), ("task_complete", Some(true))]);
    let (messages, _) = world.messages(task.conversation_id).await;
    assert_eq!((messages[0].role, messages[0].text.as_str()), (Role::User, whole.original_prompt.as_str()));
    assert_eq!((messages[1].role, messages[1].text.as_str()), (Role::Agent, "I will look first."));
}

#[tokio::test]
async fn a_task_runs_to_its_end_in_bincode() {
    let world = World::start().await;
    assert_eq!(world.client.codec(), Codec::Binary);
    runs_to_its_end(&world, &world.client, "bincode").await;
}

#[tokio::test]
async fn a_task_runs_to_its_end_in_json() {
    let world = World::start().await;
    let client = world.daemon.json_client().await;
    assert_eq!(client.codec(), Codec::Json);
    runs_to_its_end(&world, &client, "json").await;
}

#[tokio::test]
async fn a_chat_is_one_request_and_one_streamed_reply() {
    let world = World::start().await;
    let gate = Gate::new("half of the answer");
    world.model.script("chat", [Turn::say("The answer ").gate(&gate).text("is 42.")]);
    let params = method::task::StartTaskParams { mode: Some(Mode::Chat), ..world.task("chat") };
    let task = world.begin(params).await;
    let mut watcher = world.watch(task).await;
    gate.reached().await;
    gate.open();
    watcher.wait_output("is 42.").await;
    let end = world.wait_end(task).await;
    assert_eq!((end.status, end.step_count), (Status::Completed, 1));
    assert_eq!(world.texts(task.conversation_id).await[1], "The answer is 42.");
    let requests = world.model.requests("chat");
    assert_eq!(requests.len(), 1);
    assert!(requests[0].body.get("tools").is_none(), "a chat has no tools");
}

#[tokio::test]
async fn every_record_is_on_disk_before_it_is_sent() {
    let world = World::start().await;
    let witness = world.witness();
    let mut script: Vec<Turn> = (0..5)
        .map(|n| {
            Turn::say(format!("Step {n}."))
                .call("shell", json!({ "command": witness.command(&n.to_string()) }))
        })
        .collect();
    script.push(Turn::done("Done."));
    let gate = Gate::new("the watcher watches");
    script[0] = script[0].clone().gate(&gate);
    let task = world.run("durable", script).await;
    let mut watcher = world.watch(task).await;
    gate.open();
    loop {
        let fact = watcher.fact().await;
        let seen = watcher.cursor();
        assert!(
            ledger::read(&world.daemon.home()).iter().any(|line| line.seq == seen),
            "{fact:?} is not on disk"
        );
        if matches!(fact.body(), Some(RecordBody::TaskEnded(_))) {
            break;
        }
    }
    watcher.assert_agrees_with(&world.daemon, |line| line.conversation == task.conversation_id);
}

#[tokio::test]
async fn an_update_is_a_message_at_once() {
    let world = World::start().await;
    let gate = Gate::new("the next reply");
    let script = [
        Turn::new().call("send_update", json!({ "message": "Half of it is done." })),
        Turn::new().gate(&gate).call("task_complete", json!({ "summary": "All of it." })),
    ];
    let mut watcher = Watcher::open(&world.daemon, Scope::All, None).await;
    let task = world.run("update", script).await;
    let is_update = |fact: &Fact| matches!(fact, Fact::Message(m) if m.kind == MessageKind::Update);
    let facts = watcher.facts_until("the update, while the model is silent", is_update).await;
    let Some(Fact::Message(update)) = facts.last() else { panic!("a message: {facts:?}") };
    assert_eq!(update.text, "Half of it is done.");
    gate.open();
    world.wait_end(task).await;
}

#[tokio::test]
async fn facts_come_in_the_order_of_the_flow() {
    let world = World::start().await;
    let gate = Gate::new("the watcher watches");
    let script = [Turn::new().gate(&gate).call("shell", json!({ "command": "true" })), Turn::done("Done.")];
    let task = world.run("order", script).await;
    let mut watcher = world.watch(task).await;
    gate.open();
    let facts = watcher.facts_until("the end", |f| matches!(f.body(), Some(RecordBody::TaskEnded(_)))).await;
    let kinds: Vec<&str> = facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::Message(_) => Some("message"),
            Fact::Record(record) => match &record.body {
                RecordBody::Reply(_) => Some("reply"),
                RecordBody::CallAssessed(_) => Some("assessed"),
                RecordBody::CallStarted(_) => Some("started"),
                RecordBody::CallFinished(_) => Some("finished"),
                RecordBody::ModelRequested(_) => Some("asked"),
                RecordBody::TaskEnded(_) => Some("ended"),
                _ => None,
            },
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "reply", "assessed", "started", "finished", "asked", "reply", "assessed", "finished", "message",
            "ended"
        ],
    );
}
