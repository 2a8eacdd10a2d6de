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
