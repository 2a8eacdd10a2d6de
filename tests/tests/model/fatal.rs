//! A model call that no retry would help ends the task, with a message that a person understands.

use abide_client::protocol::{
    message::{MessageKind, Role},
    task::{EndReason, Status},
};
use abide_tests::{
    model_server::{Fault, Turn},
    world::World,
};

#[tokio::test]
async fn a_wrong_key_a_wrong_request_and_a_missing_model_end_the_task_at_once() {
    let world = World::start().await;
    for code in [400, 401, 403, 404] {
        let key = format!("fatal-{code}");
        let fault = Fault::Status { code, retry_after: None };
        let task = world.run(&key, [Turn::done("Never.").but_first(fault)]).await;
        let end = world.wait_end(task).await;
        assert_eq!((end.status, end.end_reason), (Status::Error, Some(EndReason::Error)), "{code}");
        let words = end.error_message.expect("says why");
        assert!(words.contains("test"), "{code}: names the provider: {words}");
        let (messages, _) = world.messages(task.conversation_id).await;
        let last = messages.last().unwrap();
        assert_eq!((last.role, last.kind, &last.text), (Role::System, MessageKind::Notice, &words));
        assert_eq!(world.model.requests(&key).len(), 1, "{code} is not tried again");
    }
}

#[tokio::test]
async fn an_unknown_provider_is_refused_when_the_task_is_started() {
    let world = World::start().await;
    let params = abide_client::protocol::method::task::StartTaskParams {
        model: Some("nowhere/at-all".to_owned()),
        ..world.task("nowhere")
    };
    let refused = world.client.call::<abide_client::protocol::method::StartTask>(params).await.unwrap_err();
    let error = refused.daemon().expect("the daemon refuses");
    assert_eq!(error.kind(), abide_client::protocol::ErrorKind::ModelUnavailable);
    assert!(error.message.contains("nowhere"), "{}", error.message);
}

#[tokio::test]
async fn a_web_page_is_not_taken_for_a_reply() {
    let world = World::start().await;
    let script = [Turn::done("Done.").but_first(Fault::NotAStream)];
    let task = world.run("page", script).await;
    let end = world.wait("an end, or a second attempt", task, |t| t.status.has_ended()).await;
    if end.status == Status::Error {
        assert!(end.error_message.is_some_and(|w| w.contains("test")), "says who answers nonsense");
    } else {
        assert_eq!(end.summary.as_deref(), Some("Done."));
    }
}
