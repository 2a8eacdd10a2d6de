//! Limits of steps, tokens and time.

use abide_client::{
    CallError,
    protocol::{
        ErrorKind, JsonText,
        inbox::{Pending, QuestionKind},
        method::{
            StartTask,
            task::{ImportCall, ImportMessage, ImportRole, StartTaskParams},
        },
        task::{EndReason, LimitsRequest, PauseReason, Status},
    },
};
use abide_tests::{
    model_server::{Script, Turn},
    world::World,
};

#[tokio::test]
async fn json_that_is_nested_too_deeply_starts_nothing() {
    let world = World::start().await;
    let nested = |depth: usize| JsonText::parse("[".repeat(depth) + &"]".repeat(depth)).unwrap();
    let deep = || StartTaskParams { metadata: Some(nested(5000)), ..world.task("deep") };
    let arguments = ImportCall { id: "c".to_owned(), tool: "read".to_owned(), arguments: nested(5000) };
    let said = |tool_calls, result: Option<JsonText>| {
        let role = if result.is_some() { ImportRole::User } else { ImportRole::Assistant };
        let call_id = result.is_some().then(|| "c".to_owned());
        ImportMessage { role, text: String::new(), tool_calls, call_id, result }
    };
    let called = ImportCall { arguments: JsonText::empty(), ..arguments.clone() };
    let results = vec![said(vec![called], None), said(Vec::new(), Some(nested(5000)))];
    for (params, what) in [
        (deep(), "the metadata is"),
        (
            StartTaskParams { messages: vec![said(vec![arguments], None)], metadata: None, ..deep() },
            "a message has JSON that is",
        ),
        (StartTaskParams { messages: results, metadata: None, ..deep() }, "a message has JSON that is"),
    ] {
        let refused = world.client.call::<StartTask>(params).await.expect_err(what);
        let CallError::Daemon(refused) = refused else { panic!("{refused}") };
        let words = format!("{what} nested 5,000 levels deep; 100 is the limit");
        assert_eq!((refused.kind(), refused.message), (ErrorKind::InvalidParams, words));
    }
    world.model.script("deep", [Turn::done("Done.")]);
    let task = world.begin(StartTaskParams { metadata: Some(nested(100)), ..deep() }).await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
}

fn endless() -> Script {
    Script::by(|n| Some(Turn::shell(&format!("echo {n}"))))
}

#[tokio::test]
async fn the_step_limit_ends_the_task_with_a_notice() {
    let world = World::start().await;
    world.model.script("steps", endless());
    let limits = LimitsRequest { max_steps: Some(3), ..LimitsRequest::default() };
    let task = world.begin(StartTaskParams { limits, ..world.task("steps") }).await;
    let end = world.wait_end(task).await;
    assert_eq!((end.status, end.end_reason), (Status::Completed, Some(EndReason::StepLimit)));
    assert_eq!(end.step_count, 3);
    let texts = world.texts(task.conversation_id).await;
    assert_eq!(texts.last().unwrap(), "I have reached the maximum number of steps. Stopping here.");
    assert_eq!(world.model.requests("steps").len(), 3);
}

#[tokio::test]
async fn a_token_limit_warns_then_pauses_and_asks() {
    let world = World::start().await;
    world.model.script(
        "tokens",
        Script::by(|n| Some(if n < 5 { Turn::shell(&format!("echo {n}")) } else { Turn::done("Done.") })),
    );
    // Each reply uses 110 tokens: the third one reaches 80 %, the fourth all.
    let limits = LimitsRequest { max_tokens: Some(400), ..LimitsRequest::default() };
    let task = world.begin(StartTaskParams { limits, ..world.task("tokens") }).await;
    let paused = world.wait_status(task, Status::Paused).await;
    assert_eq!((paused.pause_reason, paused.step_count), (Some(PauseReason::Budget), 4));
    let [Pending::Question(question)] = &paused.pending[..] else {
        panic!("one question: {:?}", paused.pending)
    };
    assert_eq!(question.kind, QuestionKind::Budget);
    assert!(world.texts(task.conversation_id).await.iter().any(|t| t.contains("330 of 400 tokens")));
    assert!(world.answer(task, Some("go on")).await);
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
}

#[tokio::test]
async fn refusing_to_go_on_after_a_limit_ends_the_task() {
    let world = World::start().await;
    world.model.script("refuse", endless());
    let limits = LimitsRequest { max_tokens: Some(100), ..LimitsRequest::default() };
    let task = world.begin(StartTaskParams { limits, ..world.task("refuse") }).await;
    world.wait_status(task, Status::Paused).await;
    assert!(world.answer(task, None).await);
    let end = world.wait("the end", task, |t| t.status.has_ended()).await;
    assert_eq!((end.status, end.end_reason), (Status::Cancelled, Some(EndReason::Budget)));
}

#[tokio::test]
async fn a_time_limit_ends_a_task_in_the_middle_of_a_tool() {
    let world = World::start().await;
    let witness = world.witness();
    world.model.script("time", [Turn::shell(&witness.command_that_hangs("slow"))]);
    // Until the command has begun it takes less, also on a busy machine.
    let limits = LimitsRequest { max_duration_secs: Some(8), ..LimitsRequest::default() };
    let task = world.begin(StartTaskParams { limits, ..world.task("time") }).await;
    let end = world.wait_end(task).await;
    assert_eq!((end.status, end.end_reason), (Status::Completed, Some(EndReason::TimeLimit)));
    assert_eq!(witness.count("slow"), 1);
}
