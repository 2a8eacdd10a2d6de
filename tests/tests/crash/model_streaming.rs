//! kill -9 while the model streams: it is asked again, and no call of the interrupted reply runs.

use abide_client::protocol::{message::Role, record::RecordBody, task::Status};
use abide_tests::{
    model_server::{Gate, Outcome, Turn},
    world::World,
};
use serde_json::json;

#[tokio::test]
async fn the_model_is_asked_again_and_no_call_of_the_cut_reply_runs() {
    let mut world = World::start().await;
    let witness = world.witness();
    let gate = Gate::new("a reply with a whole call in it");
    let script = [
        Turn::shell(&witness.command("before")),
        Turn::say("I will now run it.")
            .call("shell", json!({ "command": witness.command("after") }))
            .gate(&gate),
        Turn::done("Done."),
    ];
    let task = world.run("stream", script).await;
    let mut watcher = world.watch(task).await;
    gate.reached().await;
    watcher.wait_output("I will now run it.").await;
    world.daemon.kill();
    world
        .model
        .wait_for_requests("the cut of the request", "stream", |r| {
            r.last().unwrap().outcome == Outcome::Abandoned
        })
        .await;
    assert_eq!(witness.marks(), ["before"], "a call of an uncommitted reply ran");
    world.daemon.up().await;
    world.client = world.daemon.client().await;
    gate.reached_times(2).await;
    assert_eq!(witness.marks(), ["before"]);
    gate.open();
    let end = world.wait_end(task).await;
    assert_eq!(end.status, Status::Completed);
    assert_eq!(witness.marks(), ["before", "after"]);
    let (messages, _) = world.messages(task.conversation_id).await;
    let said: Vec<_> = messages.iter().filter(|m| m.role == Role::Agent).map(|m| m.text.as_str()).collect();
    assert_eq!(said, ["I will now run it.", "Done."], "the cut reply leaves nothing behind");
    watcher.facts_until("the end", |f| matches!(f.body(), Some(RecordBody::TaskEnded(_)))).await;
    watcher.assert_agrees_with(&world.daemon, |line| line.conversation == task.conversation_id);
}
