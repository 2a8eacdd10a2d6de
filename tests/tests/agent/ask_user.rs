//! Questions of the agent.

use abide_client::protocol::{
    method::{self, task::ListTasksParams},
    task::{EndReason, Status},
};
use abide_tests::{model_server::Turn, world::World};

#[tokio::test]
async fn an_unanswered_question_cancels_the_task_at_its_timeout() {
    let world = World::start().await;
    world.model.script("late", [Turn::ask("Still there?")]);
    let cli = world.daemon.cli();
    let id = cli.ok(&["run", "--detach", "--question-timeout", "1s", "[k:late] Ask me."]).await;
    let task = world.begun("[k:late] Ask me.").await;
    assert_eq!(id.trim(), task.task_id.to_string());
    let end = world.wait_end(task).await;
    assert_eq!((end.status, end.end_reason), (Status::Cancelled, Some(EndReason::QuestionTimeout)));
    assert_eq!(
        world.texts(task.conversation_id).await.last().unwrap(),
        "Nobody answered in time. Stopping here."
    );
    assert!(world.inbox().await.is_empty());
    assert_eq!(cli.run(&["answer", id.trim(), "yes"]).await.code, Some(1), "it is too late");
}

#[tokio::test]
async fn results_and_answers_are_in_the_scratchpad() {
    let world = World::start().await;
    let script = [Turn::shell("echo hello"), Turn::ask("Which?"), Turn::done("Done.")];
    let task = world.run("learnt", script).await;
    world.wait_status(task, Status::WaitingUser).await;
    world.answer(task, Some("the blue\none")).await;
    world.wait_end(task).await;
    let scratchpad = world.get(task).await.task.scratchpad;
    let [shell, answer] = &scratchpad[..] else { panic!("two lines: {scratchpad:?}") };
    assert!(shell.starts_with("Tool shell: exit code 0") && shell.contains("hello"), "{shell}");
    assert_eq!(answer, "User answered: the blue one");
    let all = ListTasksParams { all: true, ..ListTasksParams::default() };
    let listed = world.client.call::<method::ListTasks>(all).await.unwrap().tasks;
    assert!(listed.iter().all(|task| task.scratchpad.is_empty()), "lists leave it out");
}
