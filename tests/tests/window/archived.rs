//! Archived conversations in a window that is started after they were archived.

use abide_client::protocol::method::{
    ArchiveConversation, conversation::ArchiveConversationParams, task::StartTaskReply,
};
use abide_tests::{model_server::Turn, screen::Screen, wait, world::World};
use serde_json::json;

async fn archive(world: &World, task: StartTaskReply) {
    let params =
        ArchiveConversationParams { conversation_id: task.conversation_id.to_string(), archived: true };
    world.client.call::<ArchiveConversation>(params).await.expect("it is archived");
}

#[tokio::test]
async fn archived_conversations_are_found_in_a_new_window_and_do_not_wait_unseen() {
    let world = World::start().await;
    let name = "archived_conversations_are_found_in_a_new_window_and_do_not_wait_unseen";
    let Some(screen) = Screen::start(name).await else { return };
    let kept = world.run("kept", [Turn::done("This is the kept one.")]).await;
    let old = world.run("old", [Turn::done("This is the archived one.")]).await;
    for task in [kept, old] {
        world.wait_end(task).await;
    }
    archive(&world, old).await;

    for start in ["first", "second"] {
        let window = screen.open(&world.daemon).await;
        if start == "second" {
            // It opens what the one before has shown last.
            window.reads("This is the kept one.").await;
        }
        window.press(&["ctrl+shift+b"]).await;
        wait::wait_until("the archived conversations", async || {
            window.logged("archived conversations are listed") > 0
        })
        .await;
        if start == "first" {
            window.press(&["ctrl+Down"]).await;
            window.reads("This is the kept one.").await;
        }
        window.press(&["ctrl+Down"]).await;
        window.reads("This is the archived one.").await;
        window.press(&["ctrl+Up"]).await;
        window.reads("This is the kept one.").await;
        window.kill().await;
    }

    let command = json!({ "command": "echo asked", "outside": true, "reason": "It shows what asks." });
    let asks = world.run_asking("asks", [Turn::new().call("shell", command), Turn::done("Asked.")]).await;
    world.wait_status(asks, abide_client::protocol::task::Status::WaitingApproval).await;
    archive(&world, asks).await;
    let window = screen.open(&world.daemon).await;
    window.reads("This is the kept one.").await;
    window.press(&["ctrl+j"]).await;
    window.asks("echo asked").await;
    window.approve("shell").await;
    world.wait_end(asks).await;
}
