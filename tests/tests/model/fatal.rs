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
