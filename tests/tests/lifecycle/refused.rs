//! A start that is refused: a second task of a conversation, another request under a used id, a model that is
//! not there.

use abide_client::{
    protocol::{
        ErrorKind,
        method::{self, task::StartTaskParams},
        task::Mode,
    },
    request_id,
};
use abide_tests::{
    model_server::{Gate, Turn},
    world::World,
};

/// The kind of the daemon's error, the id that it is about, and its words.
async fn refused(world: &World, params: StartTaskParams) -> (ErrorKind, Option<String>, String) {
    let error = world.client.call::<method::StartTask>(params).await.expect_err("it is refused");
    let error = error.daemon().expect("the daemon refuses");
    (error.kind(), error.data.id.clone(), error.message.clone())
}

#[tokio::test]
async fn what_cannot_start_is_refused_with_words_and_asks_no_model() {
    let world = World::start().await;
    let gate = Gate::new("the first task");
    world.model.script("first", [Turn::say("Here").gate(&gate).text(" and done.")]);
    let first = || StartTaskParams {
        client_message_id: Some("m-1".to_owned()),
        mode: Some(Mode::Chat),
        ..world.task("first")
    };
    let task = world.begin(first()).await;
    gate.reached().await;
    let about = Some(task.task_id.to_string());

    let second = StartTaskParams { conversation_id: Some(task.conversation_id), ..world.task("second") };
    let (kind, id, words) = refused(&world, second).await;
    assert_eq!((kind, &id), (ErrorKind::TaskRunning, &about));
    assert!(words.contains("stop"), "says what to do: {words}");
    let other = StartTaskParams { message: "[k:second] something else".to_owned(), ..first() };
    let (kind, id, _) = refused(&world, other).await;
    assert_eq!((kind, &id), (ErrorKind::Conflict, &about), "another request under its id");
    let nowhere = StartTaskParams { model: Some("nowhere/at-all".to_owned()), ..world.task("second") };
    let (kind, _, words) = refused(&world, nowhere).await;
    assert!(kind == ErrorKind::ModelUnavailable && words.contains("nowhere"), "{kind:?}: {words}");
    gate.open();
    world.wait_end(task).await;
    assert!(world.model.requests("second").is_empty());

    // Two at the same time under one id for their task.
    world.model.script("named", [Turn::say("Done.")]);
    for id in ["race".to_owned(), request_id()] {
        let start = || {
            let named =
                StartTaskParams { task_id: Some(id.clone()), mode: Some(Mode::Chat), ..world.task("named") };
            world.client.call::<method::StartTask>(named)
        };
        let (one, other) = tokio::join!(start(), start());
        let (won, lost) = if one.is_ok() { (one, other) } else { (other, one) };
        let won = won.expect("one of them starts");
        let lost = lost.expect_err("the other is refused");
        let lost = lost.daemon().expect("by the daemon");
        assert_eq!((lost.kind(), lost.data.id.clone()), (ErrorKind::Conflict, Some(won.task_id.to_string())));
        world.wait_end(won).await;
    }
}
