//! Sub-tasks: a task forks two, both work at the same time, and it waits for their results, over all model
//! APIs.

use abide_client::protocol::{
    method::task::StartTaskParams,
    task::{EndReason, Status},
};
use abide_tests::{
    daemon::WIRES,
    model_server::{Gate, Turn},
    world::World,
};
use serde_json::json;

fn fork(key: &str) -> (&'static str, serde_json::Value) {
    ("fork", json!({ "prompt": format!("[k:{key}] Do your half.") }))
}

/// The daemon is killed while both sub-tasks work and the parent waits.
#[tokio::test]
async fn two_sub_tasks_work_at_the_same_time_and_their_results_come_once_over_a_crash() {
    let mut world = World::start().await;
    for (wire, model) in WIRES {
        let witness = world.witness();
        let key = |part: &str| format!("{part}-{wire}");
        let gates = ["the first half", "the second half"].map(Gate::new);
        for (half, gate) in ["first", "second"].into_iter().zip(&gates) {
            let command = witness.command(&key(half));
            let script = [
                Turn::shell(&command),
                Turn::new()
                    .gate(gate)
                    .call("task_complete", json!({ "summary": format!("The {half} is done.") })),
            ];
            world.model.script(&key(half), script);
        }
        let (first, second) = (fork(&key("first")), fork(&key("second")));
        let script = [
            Turn::new().call(first.0, first.1).call(second.0, second.1),
            Turn::new().call("wait", json!({})),
            Turn::done("Both halves are done."),
        ];
        world.model.script(&key("whole"), script);
        let params = StartTaskParams { model: Some(model.to_owned()), ..world.task(&key("whole")) };
        let task = world.begin(params).await;
        for gate in &gates {
            gate.reached().await;
        }
        let waiting = world.wait_status(task, Status::WaitingChildren).await;
        assert_eq!((waiting.children.len(), waiting.tree.map(|tree| tree.live)), (2, Some(2)), "{wire}");
        world.crash_and_restart().await;
        for gate in &gates {
            gate.open();
        }
        let end = world.wait_end(task).await;
        assert_eq!(end.end_reason, Some(EndReason::Completed), "{wire}: {end:?}");
        let request = world.model.last_request(&key("whole")).expect("a request").text();
        for half in ["first", "second"] {
            let result = format!("The {half} is done.");
            assert_eq!(request.matches(&result).count(), 1, "{wire}: {request}");
            assert_eq!(witness.marks().iter().filter(|mark| **mark == key(half)).count(), 1, "{wire}");
        }
    }
    world.model.assert_no_violations();
}
