//! kill -9 while a question is open: the same one is still open, and is answered exactly once.

use abide_client::protocol::task::Status;
use abide_tests::{model_server::Turn, world::World};

#[tokio::test]
async fn an_open_question_survives_with_the_same_id() {
    let mut world = World::start().await;
    let task = world.run("question", [Turn::ask("Red or blue?"), Turn::done("Painted.")]).await;
    let before = world.wait_status(task, Status::WaitingUser).await;
    for _ in 0..2 {
        world.crash_and_restart().await;
        let after = world.wait_status(task, Status::WaitingUser).await;
        assert_eq!(after.pending, before.pending);
        assert_eq!(world.inbox().await.len(), 1);
    }
    assert_eq!(world.model.requests("question").len(), 1, "a waiting task does not ask the model");
    assert!(world.answer(task, Some("blue")).await);
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert!(world.model.requests("question")[1].text().contains("blue"));
}

#[tokio::test]
async fn an_answer_that_was_acknowledged_survives() {
    let mut world = World::start().await;
    let task = world.run("answered", [Turn::ask("Red or blue?"), Turn::done("Painted.")]).await;
    world.wait_status(task, Status::WaitingUser).await;
    assert!(world.answer(task, Some("red")).await);
    world.crash_and_restart().await;
    let end = world.wait_end(task).await;
    assert_eq!(end.status, Status::Completed);
    assert!(world.model.requests("answered").pop().unwrap().text().contains("red"));
}
