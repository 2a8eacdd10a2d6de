//! The agent asks.

use abide_client::protocol::{
    inbox::Pending,
    method::{self, inbox::UserResponseParams},
    task::Status,
};
use abide_tests::{model_server::Turn, world::World};
use serde_json::json;

#[tokio::test]
async fn the_answer_is_the_calls_result_and_the_first_one_counts() {
    let world = World::start().await;
    let script = [
        Turn::new().call("ask_user", json!({ "question": "Tea or coffee?", "choices": ["tea", "coffee"] })),
        Turn::done("Served."),
    ];
    let task = world.run("drink", script).await;
    let waiting = world.wait_status(task, Status::WaitingUser).await;
    let [Pending::Question(question)] = &waiting.pending[..] else {
        panic!("one question: {:?}", waiting.pending)
    };
    assert_eq!((question.text.as_str(), question.choices.len()), ("Tea or coffee?", 2));
    assert_eq!(world.inbox().await.len(), 1);
    let respond = async |response: &str| {
        let params = UserResponseParams {
            task_id: task.task_id.to_string(),
            question_id: Some(question.id.to_string()),
            response: Some(response.to_owned()),
        };
        let reply = world.client.call::<method::UserResponse>(params).await.unwrap();
        assert_eq!(
            reply.won,
            reply.response.as_deref() == Some(response),
            "both learn what counts: {reply:?}"
        );
        reply.won
    };
    let (one, other) = tokio::join!(respond("tea"), respond("coffee"));
    assert_ne!(one, other, "exactly one of two wins");
    world.wait_end(task).await;
    assert!(world.inbox().await.is_empty());
    let request = world.model.requests("drink").pop().unwrap();
    let result = request.body["messages"].as_array().unwrap().last().unwrap();
    let winner = if one { "tea" } else { "coffee" };
    assert_eq!((result["role"].as_str(), result["content"].as_str()), (Some("tool"), Some(winner)));
}

#[tokio::test]
async fn the_person_may_decline_and_the_model_is_told() {
    let world = World::start().await;
    let task = world.run("decline", [Turn::ask("Why?"), Turn::done("Decided myself.")]).await;
    world.wait_status(task, Status::WaitingUser).await;
    assert!(world.answer(task, None).await);
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert!(world.model.requests("decline")[1].text().contains("declined"));
}
