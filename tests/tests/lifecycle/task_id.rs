//! A client gives its task an id.

use abide_client::protocol::{
    ErrorKind,
    method::{
        self,
        conversation::ConversationParams,
        task::{StartTaskParams, TaskParams},
    },
    task::Status,
};
use abide_tests::{model_server::Turn, world::World};

fn named(world: &World, id: &str) -> StartTaskParams {
    StartTaskParams { task_id: Some(id.to_owned()), ..world.task("named") }
}

/// Starts a task that is refused; returns the kind of the error and the id that it is about.
async fn refused(world: &World, params: StartTaskParams) -> (ErrorKind, Option<String>) {
    let error = world.client.call::<method::StartTask>(params).await.expect_err("it is refused");
    let error = error.daemon().expect("the daemon refuses");
    (error.kind(), error.data.id.clone())
}

#[tokio::test]
async fn another_text_names_the_task_wherever_an_id_does() {
    let mut world = World::start().await;
    world.model.script("named", [Turn::ask("Which?"), Turn::done("Done.")]);
    let cli = world.daemon.cli();
    let prompt = "[k:named] Do what the script says.";
    cli.ok(&["run", "--mode", "agent", "--detach", "--id", "agent-123", prompt]).await;
    let task = world.begun(prompt).await;
    world.crash_and_restart().await;
    let params = TaskParams { task_id: "agent-123".to_owned() };
    let found = world.client.call::<method::GetTask>(params.into()).await.unwrap().task;
    assert_eq!((found.id, found.external_id.as_deref()), (task.task_id, Some("agent-123")));
    world.wait_status(task, Status::WaitingUser).await;
    let shown = cli.ok(&["show", "agent-123"]).await;
    assert!(shown.contains("agent-123") && shown.contains("Which?"), "{shown}");
    cli.ok(&["answer", "agent-123", "this one"]).await;
    world.wait_end(task).await;

    let conflict = (ErrorKind::Conflict, Some(task.task_id.to_string()));
    assert_eq!(refused(&world, named(&world, "agent-123")).await, conflict);
    for id in ["", "a\nb", &"x".repeat(201)] {
        assert_eq!(refused(&world, named(&world, id)).await.0, ErrorKind::InvalidParams, "{id:?}");
    }
    let gone = ConversationParams { conversation_id: task.conversation_id.to_string() };
    world.client.call::<method::DeleteConversation>(gone).await.unwrap();
    world.model.script("next", [Turn::done("Done.")]);
    let next = StartTaskParams { task_id: Some("agent-123".to_owned()), ..world.task("next") };
    let next = world.begin(next).await;
    assert_eq!(world.wait_end(next).await.external_id.as_deref(), Some("agent-123"), "it is free again");
}
