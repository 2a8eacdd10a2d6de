//! A conversation is deleted for good, even while its task runs.

use abide_client::protocol::{
    ErrorKind,
    method::{self, conversation::ConversationParams},
};
use abide_tests::{ledger, model_server::Turn, wait, world::World};

#[tokio::test]
async fn the_task_is_stopped_and_only_a_tombstone_stays() {
    let mut world = World::start().await;
    let witness = world.witness();
    let kept = world.run("kept", [Turn::done("Kept.")]).await;
    world.wait_end(kept).await;
    let task = world.run("deleted", [Turn::shell(&witness.command_that_hangs("deleted"))]).await;
    let mut watcher = world.watch(task).await;
    watcher.wait_output("output of deleted").await;
    let params = || ConversationParams { conversation_id: task.conversation_id.to_string() };
    world.client.call::<method::DeleteConversation>(params()).await.unwrap();
    wait::wait_until("the tool's processes to be gone", async || world.daemon.offspring().is_empty()).await;
    for _ in 0..2 {
        let gone = world.client.call::<method::GetConversation>(params()).await.unwrap_err();
        assert_eq!(gone.daemon().map(abide_client::protocol::Error::kind), Some(ErrorKind::NotFound));
        let left: Vec<_> =
            ledger::of(&world.daemon.home(), task.conversation_id).into_iter().map(|l| l.kind).collect();
        assert_eq!(left, ["conversation_deleted"]);
        assert_eq!(world.texts(kept.conversation_id).await.len(), 2, "the others are untouched");
        world.crash_and_restart().await;
    }
}

#[tokio::test]
async fn a_conversation_with_a_damaged_record_can_be_deleted() {
    let mut world = World::start().await;
    let [kept, damaged] = ["kept", "damaged"].map(|key| (key, format!("The word of {key}.")));
    let mut tasks = Vec::new();
    for (key, words) in [&kept, &damaged] {
        let task = world.run(key, [Turn::say(words.clone()), Turn::done("Done.")]).await;
        world.wait_end(task).await;
        tasks.push(task);
    }
    world.daemon.stop().await;
    let database = rusqlite::Connection::open(world.daemon.home().database()).unwrap();
    let sql = "UPDATE records SET body = replace(body, 'The word of damaged', 'The sword of damaged') WHERE body LIKE '%The word of damaged%'";
    assert_ne!(database.execute(sql, []).unwrap(), 0);
    drop(database);
    world.daemon.up().await;
    world.client = world.daemon.client().await;

    let id = tasks[1].conversation_id.to_string();
    let cli = world.daemon.cli();
    let opened = cli.run(&["messages", &id]).await;
    assert!(opened.code == Some(1) && opened.stderr.contains("record"), "{opened:?}");
    cli.ok(&["conversations", "delete", "--yes", &id]).await;
    let left: Vec<_> =
        ledger::of(&world.daemon.home(), tasks[1].conversation_id).into_iter().map(|l| l.kind).collect();
    assert_eq!(left, ["conversation_deleted"]);
    assert!(cli.ok(&["search", "word"]).await.contains("The word of kept."));
}
