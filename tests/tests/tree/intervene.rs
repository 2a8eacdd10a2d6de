//! A person changes the course of a task while it works.

use abide_client::CallError;
use abide_client::protocol::{
    ErrorKind,
    message::MessageKind,
    method::{
        Intervene,
        task::{InterveneParams, StartTaskParams},
    },
    task::EndReason,
};
use abide_tests::{
    daemon::WIRES,
    model_server::{Gate, Turn},
    world::World,
};
use serde_json::json;

fn of(task: &impl ToString, comment: &str, content: Option<&str>, status: Option<&str>) -> InterveneParams {
    InterveneParams {
        task_id: task.to_string(),
        comment: comment.to_owned(),
        content: content.map(str::to_owned),
        status: status.map(str::to_owned),
    }
}

#[tokio::test]
async fn new_instructions_withdraw_the_reply_and_what_was_shown_stays() {
    let mut world = World::start().await;
    for (wire, model) in WIRES {
        let (key, witness) = (format!("modified-{wire}"), world.witness());
        let gate = Gate::new("the middle of a reply");
        let next = Gate::new("the reply to the new instructions");
        let script = [
            Turn::new().text("I look at the code").gate(&gate).call("shell", json!({ "command": "false" })),
            Turn::new().gate(&next).call("shell", json!({ "command": witness.command(&key) })),
            Turn::done("The docs are done."),
        ];
        world.model.script(&key, script);
        let task = world.begin(StartTaskParams { model: Some(model.to_owned()), ..world.task(&key) }).await;
        let mut watcher = world.watch(task).await;
        gate.reached().await;
        watcher.wait_output("I look at the code").await;
        let params = of(&task.task_id, "modify", Some("Only the docs."), None);
        let reply = world.client.call::<Intervene>(params).await.unwrap();
        assert!(reply.success && reply.task.step_count == 1, "{:?}", reply.task);
        next.reached().await;
        world.crash_and_restart().await;
        gate.open();
        next.open();
        let end = world.wait_end(task).await;
        assert_eq!((end.end_reason, end.step_count), (Some(EndReason::Completed), 2), "{wire}: {end:?}");
        let last = world.model.last_request(&key).expect("a request").text();
        assert_eq!(last.matches("Only the docs.").count(), 1, "{wire}: {last}");
        assert!(last.contains("I look at the code"), "{wire}: {last}");
        let (messages, calls) = world.messages(task.conversation_id).await;
        let said = messages.iter().filter(|message| message.kind == MessageKind::Intervention);
        assert_eq!(said.map(|message| message.text.as_str()).collect::<Vec<_>>(), ["Only the docs."]);
        assert!(calls.iter().all(|call| !call.summary.contains("false")), "the withdrawn call is not there");
        assert_eq!(witness.marks().iter().filter(|mark| **mark == key).count(), 1, "{wire}");
    }
    world.model.assert_no_violations();
}

#[tokio::test]
async fn a_comment_is_read_before_the_task_ends_and_the_command_line_says_what_is_wrong() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let gate = Gate::new("the first reply");
    let script = [
        Turn::new().gate(&gate).call("task_complete", json!({ "summary": "Done." })),
        Turn::done("Done, and the tests too."),
    ];
    let task = world.run("comment", script).await;
    gate.reached().await;
    let id = task.task_id.to_string();
    cli.ok(&["intervene", &id, "--comment", "Mind the tests."]).await;
    let nothing = cli.run(&["intervene", &id]).await;
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
    gate.open();
    let end = world.wait_end(task).await;
    assert_eq!(end.summary.as_deref(), Some("Done, and the tests too."));
    assert!(world.model.last_request("comment").expect("a request").text().contains("Mind the tests."));
    let late = cli.run(&["intervene", &id, "--delete"]).await;
    assert!(late.code == Some(1) && late.stderr.contains("has ended already: completed"), "{late:?}");
    let error = async |params| match world.client.call::<Intervene>(params).await {
        Err(CallError::Daemon(error)) => error,
        other => panic!("a refusal is expected: {other:?}"),
    };
    assert_eq!(error(of(&id, "Hello?", None, None)).await.kind(), ErrorKind::IllegalState);
    let nobody = error(of(&"00000000", "Hello?", None, None)).await;
    assert!(
        nobody.kind() == ErrorKind::NotFound && nobody.to_string().contains("there is no task"),
        "{nobody}"
    );
    assert_eq!(error(of(&id, "modify", None, None)).await.kind(), ErrorKind::InvalidParams);
    world.model.assert_no_violations();
}
