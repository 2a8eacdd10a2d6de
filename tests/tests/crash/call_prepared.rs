//! kill -9 after a call was prepared and before the record of its start is on disk: nothing of it is left.

use abide_client::protocol::task::Status;
use abide_tests::{
    ledger,
    model_server::{Gate, Turn},
    wait,
    world::World,
};
use rusqlite::Connection;
use serde_json::json;
use std::fs;

fn kept(world: &World) -> Vec<String> {
    let entries = fs::read_dir(world.daemon.home().spool_dir()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[tokio::test]
async fn a_prepared_call_has_not_begun_and_leaves_nothing() {
    let mut world = World::start().await;
    let witness = world.witness();
    let gate = Gate::new("before the call");
    let call = json!({ "command": witness.command("once") });
    // The first command waits for the checkpoint before the first change, the second one for that after the
    // first.
    let reply = Turn::say("I will run it.").gate(&gate).call("shell", call);
    let script = [Turn::shell("true"), reply, Turn::done("Done.")];
    let task = world.run("prepared", script).await;
    gate.reached().await;
    // A request may leave while the result before it commits, and the note of that call is dropped after it.
    wait::wait_until("the second request and the second checkpoint to be recorded", async || {
        let lines = ledger::read(&world.daemon.home());
        ["model_requested", "checkpointed"]
            .iter()
            .all(|kind| lines.iter().filter(|line| line.kind == *kind).count() == 2)
    })
    .await;
    wait::wait_until("the note of the first call to be dropped", async || kept(&world).is_empty()).await;
    // From here on nothing can be committed.
    let lock = Connection::open(world.daemon.home().database()).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    gate.open();
    wait::wait_until("a helper to be noted", async || {
        kept(&world).iter().any(|name| name.ends_with("-1.json"))
    })
    .await;
    assert_eq!(witness.marks(), Vec::<String>::new(), "its start is not on disk");
    world.daemon.kill();
    wait::wait_until("the helper to end", async || world.daemon.offspring().is_empty()).await;
    lock.execute_batch("ROLLBACK").unwrap();
    drop(lock);

    world.daemon.up().await;
    world.client = world.daemon.client().await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert_eq!(witness.marks(), ["once"]);
    assert_eq!(world.model.requests("prepared").len(), 4, "the reply was not on disk: asked again");
    let calls = world.get(task).await.calls;
    assert_eq!(calls.iter().filter(|call| call.tool == "shell").count(), 2, "{calls:?}");
    wait::wait_until("the note of the call that never was to be dropped", async || kept(&world).is_empty())
        .await;
}
