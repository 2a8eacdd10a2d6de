//! One root task at a time in a conversation.

use abide_client::protocol::{
    ErrorKind,
    method::{self, task::StartTaskParams},
};
use abide_tests::{
    model_server::{Gate, Turn},
    world::World,
};

#[tokio::test]
async fn a_second_task_is_refused_with_words_that_say_what_to_do() {
    let world = World::start().await;
    let gate = Gate::new("the first task");
    let task = world
        .run(
            "first",
            [Turn::new().gate(&gate).call("task_complete", serde_json::json!({ "summary": "Done." }))],
        )
        .await;
    gate.reached().await;
    let params = StartTaskParams { conversation_id: Some(task.conversation_id), ..world.task("second") };
    let refused = world.client.call::<method::StartTask>(params).await.unwrap_err();
    let error = refused.daemon().expect("the daemon refuses").clone();
    assert_eq!(error.kind(), ErrorKind::TaskRunning);
    assert_eq!(error.data.id, Some(task.task_id.to_string()));
    assert!(error.message.contains("stop"), "says what to do: {}", error.message);
    gate.open();
    world.wait_end(task).await;
    assert!(world.model.requests("second").is_empty());
}
