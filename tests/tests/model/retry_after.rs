//! The provider says how long to wait before a retry.

use abide_client::protocol::task::Status;
use abide_tests::{
    model_server::{Fault, Turn},
    world::World,
};
use std::time::Duration;

#[tokio::test]
async fn retry_after_is_respected() {
    let world = World::start().await;
    let fault = Fault::Status { code: 429, retry_after: Some(3) };
    let task = world.run("later", [Turn::done("Done.").but_first(fault)]).await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    let requests = world.model.requests("later");
    let waited = requests[1].at.duration_since(requests[0].at);
    assert!(waited >= Duration::from_secs(3), "asked again after {waited:?}");
}

#[tokio::test]
async fn a_stop_does_not_wait_for_retry_after() {
    let world = World::start().await;
    let fault = Fault::Status { code: 429, retry_after: Some(3000) };
    let task = world.run("never", [Turn::done("Done.").but_first(fault)]).await;
    world.model.wait_for_requests("the refused request", "never", |r| r.len() == 1).await;
    assert_eq!(world.stop(task).await.status, Status::Cancelled);
}
