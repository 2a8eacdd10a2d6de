//! A reply with text and no call.

use abide_client::protocol::task::{EndReason, Status};
use abide_tests::{model_server::Turn, world::World};

#[tokio::test]
async fn a_text_only_reply_is_shown_and_is_the_summary_if_another_follows() {
    let world = World::start().await;
    let script = [Turn::say("One."), Turn::say("Nothing more to say.")];
    let task = world.run("text", script).await;
    let end = world.wait_end(task).await;
    assert_eq!((end.status, end.end_reason), (Status::Completed, Some(EndReason::Completed)));
    assert_eq!(end.summary.as_deref(), Some("One."));
    assert_eq!(&world.texts(task.conversation_id).await[1..], ["One.", "Nothing more to say."]);
    for request in &world.model.requests("text")[1..] {
        let last = request.body["messages"].as_array().unwrap().last().unwrap();
        assert_eq!(last["role"], "user");
        assert!(
            last["content"].as_str().unwrap().contains("task_complete"),
            "the model is told to go on: {last}"
        );
    }
}

#[tokio::test]
async fn a_call_resets_the_count_of_text_only_replies() {
    let world = World::start().await;
    let script = [Turn::say("One."), Turn::shell("true"), Turn::say("One again."), Turn::done("Done.")];
    let end = world.wait_end(world.run("streak", script).await).await;
    assert_eq!((end.summary.as_deref(), end.step_count), (Some("Done."), 4));
}
