//! The search.

use abide_tests::{model_server::Turn, world::World};

#[tokio::test]
async fn a_message_is_found_as_soon_as_it_is_recorded_and_until_it_is_deleted() {
    let mut world = World::start().await;
    let first =
        world.run("first", [Turn::say("The heron stands still.\nIt waits."), Turn::done("Done.")]).await;
    world.wait_end(first).await;
    let second = world.run("second", [Turn::say("A heron flew off."), Turn::done("Done.")]).await;
    world.wait_end(second).await;
    let cli = world.daemon.cli();

    let text = cli.ok(&["search", "HERON"]).await;
    let (newer, older) = text.split_once("stands still.").expect(&text);
    assert!(newer.contains("A heron flew off.") && !older.contains("heron"), "{text}");
    assert!(newer.contains(&first.conversation_id.short()), "{text}");
    let within = cli.ok(&["search", "heron", "--conversation", &first.conversation_id.short()]).await;
    assert!(!within.contains("flew"), "{within}");
    assert!(cli.ok(&["search", "\"still heron\""]).await.contains("Nothing is found."));

    let json = cli.json(&["search", "wait"]).await;
    let hit = &json["messages"][0];
    assert_eq!(hit["line"]["text"], "It waits.");
    assert_eq!(hit["line"]["marks"], serde_json::json!([{ "start": 3, "end": 8 }]));
    assert_eq!(hit["conversationId"], first.conversation_id.to_string());

    world.crash_and_restart().await;
    let cli = world.daemon.cli();
    cli.ok(&["conversations", "delete", "--yes", &first.conversation_id.short()]).await;
    assert!(cli.ok(&["search", "stands"]).await.contains("Nothing is found."));
    assert!(cli.ok(&["search", "heron"]).await.contains("flew off"));
}
