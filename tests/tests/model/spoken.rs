//! Models behind servers that do not parse what they write: calls as text, arguments that are almost right.

use abide_client::protocol::{
    event::EventKind,
    inbox::Decision,
    method::{
        GetTask,
        task::{GetTaskParams, StartTaskParams},
    },
    task::{Mode, Status},
};
use abide_tests::{daemon::WIRES, model_server::Turn, world::World};
use serde_json::json;

/// A text that calls `shell` with this command, as Hermes writes it.
fn spoken(command: &str) -> String {
    let call = json!({ "name": "shell", "arguments": { "command": command } });
    format!("<think>I run it.</think>\n<tool_call>\n{call}\n</tool_call>")
}

/// It goes back to the provider as a call with its result, and people see no markup.
#[tokio::test]
async fn a_call_written_as_text_is_carried_out_like_any_other() {
    let world = World::start().await;
    let witness = world.witness();
    for (wire, model) in WIRES {
        for mode in [Mode::Auto, Mode::Agent] {
            let key = format!("spoken-{wire}-{}", mode.name());
            let command = witness.command(&key);
            let turn = Turn::say(spoken(&command)).read_as(Turn::shell(&command));
            let end = if mode == Mode::Auto { Turn::say("Done.") } else { Turn::done("Done.") };
            world.model.script(&key, [turn, end]);
            let params =
                StartTaskParams { mode: Some(mode), model: Some(model.to_owned()), ..world.task(&key) };
            let task = world.begin(params).await;
            let end = world.wait_end(task).await;
            assert_eq!((end.summary.as_deref(), end.usage.model_calls), (Some("Done."), 2), "{key}: {end:?}");
            assert_eq!(witness.count(&key), 1, "{key}");
            assert_eq!(&world.texts(task.conversation_id).await[1..], ["Done."], "{key}");
            let params = GetTaskParams { task_id: task.task_id.to_string(), history: true };
            let history =
                world.client.call::<GetTask>(params).await.unwrap().history.expect("it was asked for");
            let traced = history.events.iter().any(
                |event| matches!(&event.kind, EventKind::ModelTraced(traced) if traced.traces[0].raw.contains("<tool_call>")),
            );
            assert!(traced, "{key}: what was read is kept");
        }
    }
    world.model.assert_no_violations();
}

/// Whoever quotes a file may have it call: a person is asked as ever.
#[tokio::test]
async fn a_call_written_as_text_asks_like_any_other() {
    let world = World::start().await;
    let witness = world.witness();
    let command = witness.command("asked");
    let call =
        json!({ "name": "shell", "arguments": { "command": command, "outside": true, "reason": "So." } });
    let turn = Turn::say(format!("<tool_call>{call}</tool_call>"));
    let read = Turn::new().call("shell", call["arguments"].clone());
    let task = world.run_asking("asked", [turn.read_as(read), Turn::done("Done.")]).await;
    world.wait_status(task, Status::WaitingApproval).await;
    assert_eq!(witness.count("asked"), 0);
    assert!(world.decide(task, Decision::RejectOnce).await);
    world.wait_end(task).await;
    assert_eq!(witness.count("asked"), 0);
    world.model.assert_no_violations();
}

/// What was approved is what is carried out and recorded, and what the model finds as its own call.
#[tokio::test]
async fn arguments_that_are_almost_right_are_settled_before_anything_else() {
    let world = World::start().await;
    let witness = world.witness();
    for (wire, model) in WIRES {
        let key = format!("settled-{wire}");
        let command = witness.command(&key);
        let settled = json!({ "command": command, "timeout_secs": 60 });
        let written = json!({ "command": command, "timeout_secs": "60", "working_dir": null, "depth": 3 });
        let turn =
            Turn::new().call("functions.Shell", written).read_as(Turn::new().call("shell", settled.clone()));
        let end = Turn::new().call("task_complete", json!({ "result": "Done." }));
        world.model.script(&key, [turn, end]);
        let task = world.begin(StartTaskParams { model: Some(model.to_owned()), ..world.task(&key) }).await;
        let end = world.wait_end(task).await;
        assert_eq!((end.summary.as_deref(), witness.count(&key)), (Some("Done."), 1), "{key}: {end:?}");
        let told = world.model.last_request(&key).expect("a request").text();
        assert!(told.contains("there is no field `depth`"), "{key}: {told}");
        let (_, calls) = world.messages(task.conversation_id).await;
        assert_eq!(calls[0].tool, "shell", "{key}");
    }
    let key = "half";
    let turn = Turn::new().call("shell", json!({ "command": witness.command(key), "timeout_secs": 1.5 }));
    world.model.script(key, [turn, Turn::done("Done.")]);
    world.wait_end(world.begin(world.task(key)).await).await;
    let told = world.model.last_request(key).expect("a request").text();
    assert!(told.contains("`timeout_secs`") && told.contains("integer"), "{told}");
    assert_eq!(witness.count(key), 0);
    world.model.assert_no_violations();
}
