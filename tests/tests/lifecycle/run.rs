//! A task from its prompt to its end.

use abide_client::{
    Client,
    protocol::{
        codec::Codec,
        message::Role,
        method::{self, task::GetTaskReply},
        record::RecordBody,
        task::{EndReason, Status},
    },
};
use abide_tests::{
    ledger,
    model_server::{Gate, Turn},
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
async fn a_task_runs_to_its_end_in_either_codec() {
    let world = World::start().await;
    assert_eq!(world.client.codec(), Codec::Binary);
    runs_to_its_end(&world, &world.client, "bincode").await;
    let client = world.daemon.json_client().await;
    assert_eq!(client.codec(), Codec::Json);
    runs_to_its_end(&world, &client, "json").await;
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
