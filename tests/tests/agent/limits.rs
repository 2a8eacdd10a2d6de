//! Limits of what a client sends.

use abide_client::{
    CallError,
    protocol::{
        ErrorKind, JsonText,
        method::{
            StartTask,
            task::{ImportCall, ImportMessage, ImportRole, StartTaskParams},
        },
        task::Status,
    },
};
use abide_tests::{model_server::Turn, world::World};

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
