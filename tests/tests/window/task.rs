//! A task from its first key to its end, in a real window, with real keys.

use abide_client::protocol::{
    message::Role,
    task::{EndReason, Status},
};
use abide_tests::{
    model_server::{Gate, Turn},
    screen::Screen,
    world::World,
};
use serde_json::json;

/// The page's background, where nothing covers it.
const GROUND: u32 = 0xfb_faf8;

#[tokio::test]
async fn a_task_is_typed_streamed_answered_approved_and_completed() {
    let world = World::start().await;
    let Some(screen) = Screen::start("a_task_is_typed_streamed_answered_approved_and_completed").await else {
        return;
    };
    let gate = Gate::new("the middle of a reply");
    let witness = world.witness();
    let script = [
        Turn::say("Let me see what is there. ")
            .gate(&gate)
            .text("One thing is not clear.")
            .call("ask_user", json!({ "question": "Which colour?", "choices": ["red", "blue"] })),
        Turn::outside(&witness.command("painted")),
        Turn::done("All is painted."),
    ];
    world.model.script("paint", script);
    let window = screen.open(&world.daemon).await;
    let prompt = "[k:paint] Paint the shed, please.";
    window.type_text(prompt).await;
    window.press(&["Return"]).await;
    let task = world.begun(prompt).await;
    gate.reached().await;
    let shown = window.reads("Let me see what is there.").await;
    assert!(!shown.contains("One thing"), "{shown}");
    window.keep_picture("streaming").await;
    gate.open();
    world.wait_status(task, Status::WaitingUser).await;
    window.asks("Question for you: Which colour?").await;
    window.keep_picture("question").await;
    window.choose(2).await;
    world.wait_status(task, Status::WaitingApproval).await;
    window.asks("Approve shell?").await;
    window.keep_picture("approval").await;
    assert_eq!(witness.count("painted"), 0);
    window.approve("shell").await;
    assert_eq!(world.wait_end(task).await.end_reason, Some(EndReason::Completed));
    assert_eq!(witness.count("painted"), 1);
    let shown = window.reads("— completed").await;
    assert!(shown.contains("Agent:\nAll is painted."), "{shown}");
    window.keep_picture("complete").await;
    let (messages, _) = world.messages(task.conversation_id).await;
    assert!(messages.iter().any(|m| m.role == Role::User && m.text == "blue"), "{messages:#?}");
    for message in messages {
        assert_eq!(shown.matches(&*message.text).count(), 1, "{:?} once in\n{shown}", message.text);
    }
}

#[tokio::test]
async fn a_window_closed_in_mid_reply_shows_everything_when_reopened() {
    let world = World::start().await;
    let Some(screen) = Screen::start("a_window_closed_in_mid_reply_shows_everything_when_reopened").await
    else {
        return;
    };
    let gate = Gate::new("the middle of a reply");
    let script = [
        Turn::say("First half, ").gate(&gate).text("second half.").call("list", json!({})),
        Turn::done("Over."),
    ];
    world.model.script("halves", script);
    let window = screen.open(&world.daemon).await;
    let prompt = "[k:halves] Say it in two halves.";
    window.type_text(prompt).await;
    window.press(&["Return"]).await;
    let task = world.begun(prompt).await;
    window.reads("First half,").await;
    // The window tells once that closing it stops no task.
    window.press(&["alt+F4"]).await;
    window.wait_picture("the question whether to close", |p| p.count(GROUND) == 0).await;
    window.keep_picture("closing").await;
    window.press(&["Return"]).await;
    assert!(window.ended().await.success());
    assert_eq!(world.get(task).await.task.status, Status::Thinking, "nothing has stopped");
    let window = screen.open(&world.daemon).await;
    let shown = window.reads("First half,").await;
    assert_eq!((shown.matches(prompt).count(), shown.matches("First half,").count()), (1, 1), "{shown}");
    gate.open();
    world.wait_end(task).await;
    let shown = window.reads("— completed").await;
    for text in world.texts(task.conversation_id).await {
        assert_eq!(shown.matches(&*text).count(), 1, "{text:?} once in\n{shown}");
    }
    window.press(&["alt+F4"]).await;
    assert!(window.ended().await.success(), "nothing runs: nothing is asked");
}
