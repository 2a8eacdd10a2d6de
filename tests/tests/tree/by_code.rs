//! Sub-tasks that Python code starts: they work at the same time, the code waits for their results, and none
//! is started twice.

use abide_client::protocol::{
    TaskId,
    message::{CallOutcome, CallView},
    method::task::StartTaskReply,
    task::{EndReason, Status},
};
use abide_tests::{
    model_server::{Gate, Turn},
    wait,
    world::World,
};
use serde_json::{Value, json};

const CODE: &str =
    r#"handles = [fork("[k:a] Option A"), fork("[k:b] Option B")]; results = [wait(h) for h in handles]"#;

fn python(code: &str) -> Turn {
    Turn::new().call("python", json!({ "code": code }))
}

/// Sub-tasks `a` and `b`, whose ends wait at these gates.
fn options(world: &World) -> [Gate; 2] {
    let witness = world.witness();
    let gates = ["the end of A", "the end of B"].map(Gate::new);
    for (key, gate) in ["a", "b"].into_iter().zip(&gates) {
        let end = json!({ "summary": format!("Option {key} is possible.") });
        let script = [Turn::shell(&witness.command(key)), Turn::new().gate(gate).call("task_complete", end)];
        world.model.script(key, script);
    }
    gates
}

async fn reached(gates: &[Gate; 2]) {
    for gate in gates {
        gate.reached().await;
    }
}

/// The first call of a task.
async fn call(world: &World, task: StartTaskReply) -> CallView {
    world.get(task).await.calls.remove(0)
}

fn data(call: &CallView) -> Value {
    call.result.clone().expect("a result").data.expect("data").value()
}

async fn handles(world: &World, task: StartTaskReply) -> Vec<String> {
    world.get(task).await.task.children.iter().map(TaskId::short).collect()
}

#[tokio::test]
async fn code_starts_two_sub_tasks_and_prints_their_results() {
    let world = World::start().await;
    let gates = options(&world);
    let code = format!(
        "{CODE}\nprint(results)\nimport time\nbegun = time.monotonic()\nfor n in range(500): assert wait(handles[0]) == results[0]\nprint(time.monotonic() - begun)"
    );
    let task = world.run("code", [python(&code), Turn::done("Done.")]).await;
    reached(&gates).await;
    let working = world.get(task).await.task;
    assert_eq!((working.status, working.tree.map(|tree| tree.live)), (Status::ToolExecuting, Some(2)));
    gates.iter().rev().for_each(Gate::open);
    let end = world.wait_end(task).await;
    assert_eq!((end.status, end.children.len()), (Status::Completed, 2), "{end:?}");
    let data = data(&call(&world, task).await);
    let handles = handles(&world, task).await;
    assert_eq!(data["forked"], json!(handles), "{data}");
    let stdout = data["stdout"].as_str().unwrap();
    let [results, took] = stdout.lines().collect::<Vec<_>>()[..] else { panic!("{data}") };
    for (handle, key) in handles.iter().zip(["a", "b"]) {
        let result = format!(
            "{{'endReason': 'completed', 'handle': '{handle}', 'result': 'Option {key} is possible.', 'status': 'completed', "
        );
        assert!(results.contains(&result), "{results}");
        assert_eq!(world.witness().count(key), 1);
    }
    let request = world.model.last_request("code").unwrap().text();
    assert!(!request.contains(" has ended ("), "the code has read the results: no notes of them: {request}");
    println!("500 waits for a sub-task that has ended: {took} s");
    world.model.assert_no_violations();
}

#[tokio::test]
async fn code_that_a_crash_interrupts_names_its_sub_tasks_which_go_on() {
    let mut world = World::start().await;
    let gates = options(&world);
    let script = [python(CODE), Turn::new().call("wait", json!({})), Turn::done("Done.")];
    let task = world.run("code", script).await;
    reached(&gates).await;
    world.daemon.kill();
    wait::wait_until("the code to die with the daemon", async || world.daemon.offspring().is_empty()).await;
    world.daemon.up().await;
    world.client = world.daemon.client().await;
    for gate in &gates {
        gate.reached_times(2).await;
    }
    world.wait_status(task, Status::WaitingChildren).await;
    let interrupted = call(&world, task).await;
    assert_eq!(interrupted.outcome, Some(CallOutcome::Interrupted));
    let words = interrupted.result.unwrap().message;
    let handles = handles(&world, task).await;
    assert_eq!(handles.len(), 2);
    for (handle, option) in handles.iter().zip(["[k:a] Option A", "[k:b] Option B"]) {
        assert!(words.contains(&format!("{handle} ({option})")), "{words}");
    }
    gates.iter().for_each(Gate::open);
    let end = world.wait_end(task).await;
    assert_eq!((end.status, end.children.len()), (Status::Completed, 2), "{end:?}");
    let request = world.model.last_request("code").unwrap().text();
    for key in ["a", "b"] {
        assert!(request.contains(&format!("Option {key} is possible.")), "{request}");
        assert_eq!(world.witness().count(key), 1, "it ran once");
    }
    world.model.assert_no_violations();
}

#[tokio::test]
async fn a_stop_ends_waiting_code_and_its_sub_tasks() {
    let world = World::start().await;
    let gates = options(&world);
    let task = world.run("code", [python(CODE), Turn::done("Done.")]).await;
    reached(&gates).await;
    world.stop(task).await;
    wait::wait_until("the code to end", async || world.daemon.offspring().is_empty()).await;
    assert_eq!(call(&world, task).await.outcome, Some(CallOutcome::Cancelled));
    for child in world.get(task).await.task.children {
        let child = world.get(StartTaskReply { task_id: child, ..task }).await.task;
        assert_eq!(child.end_reason, Some(EndReason::ParentEnded));
    }
}

/// Otherwise the daemon would wait for code that waits for sub-tasks, which no longer act.
#[tokio::test]
async fn when_the_daemon_stops_waiting_code_is_told_and_its_sub_tasks_go_on_at_the_next_start() {
    let mut world = World::start().await;
    let gates = options(&world);
    let code = format!("import atexit\natexit.register(lambda: fork('[k:a] Too late'))\n{CODE}");
    let script = [python(&code), Turn::new().call("wait", json!({})), Turn::done("Done.")];
    let task = world.run("code", script).await;
    reached(&gates).await;
    assert!(world.daemon.stop().await.success());
    world.daemon.up().await;
    world.client = world.daemon.client().await;
    gates.iter().for_each(Gate::open);
    let end = world.wait_end(task).await;
    assert_eq!((end.status, end.children.len()), (Status::Completed, 2), "{end:?}");
    let told = call(&world, task).await;
    assert_eq!(told.outcome, Some(CallOutcome::Done), "it ended by itself: {told:?}");
    let data = data(&told);
    let error = "RuntimeError: Abide is shutting down; sub-tasks go on at its next start\n";
    assert_eq!(data["stderr"].as_str().unwrap().matches(error).count(), 2, "{data}");
    assert_eq!(data["forked"], json!(handles(&world, task).await));
    for key in ["a", "b"] {
        assert_eq!(world.witness().count(key), 1);
    }
}
