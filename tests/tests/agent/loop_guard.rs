//! The loop guard stops the fifth identical call in a row.

use abide_client::protocol::{
    inbox::{Pending, QuestionKind},
    task::{EndReason, Status},
};
use abide_tests::{
    model_server::{Script, Turn},
    world::World,
};

async fn caught(world: &World, key: &str) -> abide_client::protocol::method::task::StartTaskReply {
    let command = world.witness().command(key);
    let script = Script::by(move |n| Some(if n < 6 { Turn::shell(&command) } else { Turn::done("Done.") }));
    let task = world.run(key, script).await;
    let waiting = world.wait_status(task, Status::WaitingUser).await;
    let [Pending::Question(question)] = &waiting.pending[..] else {
        panic!("one question: {:?}", waiting.pending)
    };
    assert_eq!(question.kind, QuestionKind::Loop);
    assert_eq!(world.witness().count(key), 4, "the fifth waits");
    task
}

#[tokio::test]
async fn the_fifth_waits_until_a_person_lets_it_go_on() {
    let world = World::start().await;
    let task = caught(&world, "on").await;
    assert!(world.answer(task, Some("go on")).await);
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert_eq!(world.witness().count("on"), 6);
}

#[tokio::test]
async fn the_fifth_call_ends_the_task_if_the_person_says_so() {
    let world = World::start().await;
    let task = caught(&world, "off").await;
    assert!(world.answer(task, Some("stop")).await);
    let end = world.wait("the end", task, |t| t.status.has_ended()).await;
    assert_eq!((end.status, end.end_reason), (Status::Cancelled, Some(EndReason::Stopped)));
    assert_eq!(world.witness().count("off"), 4);
}
