//! Questions of the agent.

use abide_client::protocol::{
    inbox::Pending,
    method::{self, inbox::UserResponseParams, task::ListTasksParams},
    task::{EndReason, Status},
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
async fn a_declined_question_is_reported_to_the_model() {
    let world = World::start().await;
    let task = world.run("decline", [Turn::ask("Why?"), Turn::done("Decided myself.")]).await;
    world.wait_status(task, Status::WaitingUser).await;
    assert!(world.answer(task, None).await);
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert!(world.model.requests("decline")[1].text().contains("declined"));
}

#[tokio::test]
async fn an_unanswered_question_cancels_the_task_at_its_timeout() {
    let world = World::start().await;
    world.model.script("late", [Turn::ask("Still there?")]);
    let cli = world.daemon.cli();
    let id = cli.ok(&["run", "--detach", "--question-timeout", "1s", "[k:late] Ask me."]).await;
    let task = world.begun("[k:late] Ask me.").await;
    assert_eq!(id.trim(), task.task_id.to_string());
    let end = world.wait_end(task).await;
    assert_eq!((end.status, end.end_reason), (Status::Cancelled, Some(EndReason::QuestionTimeout)));
    assert_eq!(
        world.texts(task.conversation_id).await.last().unwrap(),
        "Nobody answered in time. Stopping here."
    );
    assert!(world.inbox().await.is_empty());
    assert_eq!(cli.run(&["answer", id.trim(), "yes"]).await.code, Some(1), "it is too late");
}

/// Only `ask_user` is offered; a call under the tool's other name works too.
#[tokio::test]
async fn a_question_by_the_tools_other_name() {
    let world = World::start().await;
    let asks = Turn::new().call("request_input", json!({ "question": "Red or blue?" }));
    let wrong = Turn::new().call("request_input", json!({ "q": 1 }));
    let task = world.run("other", [wrong, asks, Turn::done("Painted.")]).await;
    let waiting = world.wait_status(task, Status::WaitingUser).await;
    assert_eq!(waiting.pending.len(), 1, "the one whose arguments fit");
    assert!(world.answer(task, Some("blue")).await);
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    let requests = world.model.requests("other");
    assert!(requests[1].text().contains("the arguments do not fit"), "{}", requests[1].text());
    assert!(requests[2].text().contains("blue"));
    assert!(
        !requests[0].body["tools"].to_string().contains("request_input"),
        "one of the two names is declared"
    );
}

#[tokio::test]
async fn results_and_answers_are_in_the_scratchpad() {
    let world = World::start().await;
    let script = [Turn::shell("echo hello"), Turn::ask("Which?"), Turn::done("Done.")];
    let task = world.run("learnt", script).await;
    world.wait_status(task, Status::WaitingUser).await;
    world.answer(task, Some("the blue\none")).await;
    world.wait_end(task).await;
    let scratchpad = world.get(task).await.task.scratchpad;
    let [shell, answer] = &scratchpad[..] else { panic!("two lines: {scratchpad:?}") };
    assert!(shell.starts_with("Tool shell: exit code 0") && shell.contains("hello"), "{shell}");
    assert_eq!(answer, "User answered: the blue one");
    let all = ListTasksParams { all: true, ..ListTasksParams::default() };
    let listed = world.client.call::<method::ListTasks>(all).await.unwrap().tasks;
    assert!(listed.iter().all(|task| task.scratchpad.is_empty()), "lists leave it out");
}
