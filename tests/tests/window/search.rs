//! An old message, found with keys in a real window.

use abide_tests::{
    model_server::Turn,
    screen::{Picture, Screen},
    world::World,
};
use serde_json::json;

#[tokio::test]
async fn a_message_of_another_conversation_is_found_and_shown() {
    let world = World::start().await;
    let Some(screen) = Screen::start("a_message_of_another_conversation_is_found_and_shown").await else {
        return;
    };
    let many = (0..150)
        .map(|n| Turn::new().call("send_update", json!({ "message": format!("Line {n} of many.") })))
        .collect::<Vec<_>>();
    let first = [Turn::say("Here lives a zebrafish.")].into_iter().chain(many).chain([Turn::done("Done.")]);
    let mut params = world.task("old");
    params.limits.max_steps = Some(0);
    world.model.script("old", first.collect::<Vec<_>>());
    let old = world.begin(params).await;
    world.wait_end(old).await;
    let new = world.run("new", [Turn::say("Nothing of the kind."), Turn::done("Done.")]).await;
    world.wait_end(new).await;

    let window = screen.open(&world.daemon).await;
    window.press(&["ctrl+k"]).await;
    window
        .wait_picture("the search box to have the keyboard", |picture| picture.has_frame(10..236, 8..50))
        .await;
    window.type_text("zebrafish").await;
    window.press(&["Return"]).await;
    let shown = window.reads("Here lives a zebrafish.").await;
    let is_framed = |picture: &Picture| picture.has_frame(400..1170, 70..650);
    window.wait_picture("what was found in view, in its frame", is_framed).await;
    window.keep_picture("found").await;
    assert!(shown.contains("Line 149 of many."), "all that lies between is here too");
    assert_eq!(shown.matches("Line 20 of many.").count(), 1);
}
