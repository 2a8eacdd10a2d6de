//! A client that does not know whether its request arrived sends it again.

use abide_client::protocol::{
    ErrorKind,
    method::{self, task::StartTaskParams},
};
use abide_tests::{model_server::Turn, world::World};

#[tokio::test]
async fn the_same_request_starts_nothing_twice_and_another_one_is_a_conflict() {
    let mut world = World::start().await;
    world.model.script("once", [Turn::done("Done.")]);
    let params = StartTaskParams { client_message_id: Some("m-1".to_owned()), ..world.task("once") };
    let (first, second) = tokio::join!(world.begin(params.clone()), world.begin(params.clone()));
    assert_eq!(first, second);
    world.wait_end(first).await;
    assert_eq!(world.begin(params.clone()).await, first, "also after its end");
    world.crash_and_restart().await;
    assert_eq!(world.begin(params.clone()).await, first, "also after the daemon's death");
    let other = StartTaskParams { message: "[k:once] something else".to_owned(), ..params };
    let refused = world.client.call::<method::StartTask>(other).await.unwrap_err();
    let error = refused.daemon().expect("the daemon refuses");
    assert_eq!((error.kind(), error.data.id.clone()), (ErrorKind::Conflict, Some(first.task_id.to_string())));
    assert_eq!(world.model.requests("once").len(), 1);
}
