//! The provider says how long to wait before a retry.

use abide_client::protocol::{
    inbox::{InboxItem, Pending, QuestionKind},
    task::{PauseReason, Status},
};
use abide_tests::{
    model_server::{Fault, Turn},
    world::World,
};

/// A limit that ends in an hour parks the task: it is in the inbox, survives the daemon, and a person need
/// not wait.
#[tokio::test]
async fn a_long_limit_parks_the_task_until_a_person_resumes_it() {
    let mut world = World::start().await;
    let limit = || Fault::Status { code: 429, retry_after: Some(3600) };
    let task = world.run("limit", [Turn::done("Done.").but_first(limit()).but_first(limit())]).await;
    let parked = world.wait_status(task, Status::Paused).await;
    assert_eq!(parked.pause_reason, Some(PauseReason::Parked));
    let until = parked.retry.expect("it is tried again").next_at;
    world.crash_and_restart().await;
    let inbox = world.inbox().await;
    let [InboxItem { pending: Pending::Question(question), .. }] = &inbox[..] else {
        panic!("one question: {inbox:?}")
    };
    assert_eq!((question.kind, question.expires_at), (QuestionKind::Parked, Some(until)));
    world.resume(task).await;
    world.model.wait_for_requests("the second refused request", "limit", |r| r.len() == 2).await;
    assert_eq!(world.wait_status(task, Status::Paused).await.pause_reason, Some(PauseReason::Parked));
    world.resume(task).await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert_eq!(world.model.requests("limit").len(), 3);
}
