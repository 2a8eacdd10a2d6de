//! A client gives its task an id.

use abide_client::{
    protocol::{
        ErrorKind, TaskId,
        method::{
            self,
            conversation::ConversationParams,
            task::{StartTaskParams, TaskParams},
        },
        task::{Mode, Status},
    },
    request_id,
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
async fn a_uuid_v7_is_the_tasks_id_and_can_be_used_once() {
    let world = World::start().await;
    world.model.script("named", [Turn::done("Done.")]);
    let id = TaskId(request_id().parse().unwrap());
    let task = world.begin(named(&world, &id.to_string())).await;
    assert_eq!(task.task_id, id);
    assert_eq!(world.wait_end(task).await.external_id, None);
    let conflict = (ErrorKind::Conflict, Some(id.to_string()));
    assert_eq!(refused(&world, named(&world, &id.to_string())).await, conflict);
    let again = StartTaskParams {
        conversation_id: Some(task.conversation_id),
        workspace: None,
        ..named(&world, &id.0.simple().to_string())
    };
    assert_eq!(refused(&world, again).await, conflict, "in its own conversation too");
    assert_eq!(world.model.requests("named").len(), 1);
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

#[tokio::test]
async fn of_two_requests_with_one_id_one_starts_and_a_repeated_request_is_no_conflict() {
    let world = World::start().await;
    world.model.script("named", [Turn::say("Done.")]);
    let chat = |id: &str| StartTaskParams { mode: Some(Mode::Chat), ..named(&world, id) };
    for id in ["race".to_owned(), request_id()] {
        let start = || world.client.call::<method::StartTask>(chat(&id));
        let (one, other) = tokio::join!(start(), start());
        let (won, lost) = if one.is_ok() { (one, other) } else { (other, one) };
        let won = won.expect("one of them starts");
        let lost = lost.expect_err("the other is refused");
        let lost = lost.daemon().expect("by the daemon");
        assert_eq!((lost.kind(), lost.data.id.clone()), (ErrorKind::Conflict, Some(won.task_id.to_string())));
        world.wait_end(won).await;
    }
    let params = StartTaskParams { client_message_id: Some("m-1".to_owned()), ..chat("once") };
    let (first, second) = tokio::join!(world.begin(params.clone()), world.begin(params.clone()));
    assert_eq!(first, second);
    world.wait_end(first).await;
    assert_eq!(world.begin(params.clone()).await, first, "also after its end");
    let other = StartTaskParams { client_message_id: Some("m-2".to_owned()), ..params };
    assert_eq!(refused(&world, other).await, (ErrorKind::Conflict, Some(first.task_id.to_string())));
}
