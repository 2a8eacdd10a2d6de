//! Mode `tree`: clarify, inquire, split, act, join, summarize, over all model APIs.

use abide_client::protocol::{
    event::EventKind,
    method::{
        GetTask,
        task::{GetTaskParams, StartTaskParams},
    },
    task::{EndReason, Mode, Status},
};
use abide_tests::{
    daemon::WIRES,
    model_server::{Gate, Turn},
    world::World,
};
use serde_json::{Value, json};

const AMBIGUOUS: &str =
    "Two things could be meant.\n\n```json\n{\"ambiguous\": true, \"question\": \"Which one?\"}\n```";
const COMPLETE: &str = r#"{"missing": false, "question": ""}"#;

fn tree(world: &World, key: &str, model: &str) -> StartTaskParams {
    StartTaskParams { mode: Some(Mode::Tree), model: Some(model.to_owned()), ..world.task(key) }
}

/// A reply that splits the work between the sub-tasks of these scripts.
fn split(keys: &[String]) -> Turn {
    let parts: Vec<String> = keys.iter().map(|key| format!("[k:{key}] Do your part.")).collect();
    Turn::say(json!({ "subquestions": parts }).to_string())
}

/// The daemon is killed while the question is open, while both sub-tasks work, while the task waits for them,
/// and in its summary.
#[tokio::test]
async fn all_phases_survive_crashes_and_each_sub_task_runs_and_is_summed_up_once() {
    let mut world = World::start().await;
    for (wire, model) in WIRES {
        let witness = world.witness();
        let key = |part: &str| format!("{part}-{wire}");
        let halves = ["left", "right"].map(key);
        let gates = ["in the left part", "in the right part"].map(Gate::new);
        for (half, gate) in halves.iter().zip(&gates) {
            let end = json!({ "summary": format!("The part {half} is done.") });
            let script =
                [Turn::shell(&witness.command(half)), Turn::new().gate(gate).call("task_complete", end)];
            world.model.script(half, script);
        }
        let sums_up = Gate::new("in summarize");
        let answer = r#"{"answer": "All of it is done.", "uncertain": false}"#;
        let script = [
            Turn::say(AMBIGUOUS),
            Turn::say(COMPLETE),
            split(&halves),
            Turn::shell(&witness.command(&key("own"))),
            Turn::done("My own part is done."),
            Turn::new().gate(&sums_up).text(answer),
        ];
        world.model.script(&key("whole"), script);
        let task = world.begin(tree(&world, &key("whole"), model)).await;
        world.wait_status(task, Status::WaitingUser).await;
        world.crash_and_restart().await;
        assert!(world.answer(task, Some("the blue one")).await);
        for gate in &gates {
            gate.reached().await;
        }
        world.wait_status(task, Status::WaitingChildren).await;
        world.crash_and_restart().await;
        for gate in &gates {
            gate.open();
        }
        sums_up.reached().await;
        world.crash_and_restart().await;
        sums_up.open();

        let end = world.wait_end(task).await;
        let expected = (Some(EndReason::Completed), Some("All of it is done."), 2, Mode::Tree);
        assert_eq!((end.end_reason, end.summary.as_deref(), end.step_count, end.mode), expected, "{wire}");
        let data = end.data.expect("the mode has a result for programs").value().clone();
        assert_eq!(data["questions"], json!([{ "question": "Which one?", "answer": "the blue one" }]));
        let results: Vec<Value> =
            data["subResults"].as_array().unwrap().iter().map(|r| r["result"].clone()).collect();
        let done = halves.clone().map(|half| json!(format!("The part {half} is done.")));
        assert_eq!(results, done, "{wire}");
        let last = world.model.last_request(&key("whole")).expect("a request").text();
        assert!(last.contains("the blue one"), "{wire}: {last}");
        for part in [&halves[0], &halves[1], &key("own")] {
            assert_eq!(witness.marks().iter().filter(|mark| *mark == part).count(), 1, "{wire}: {part}");
        }
        for half in &halves {
            assert_eq!(last.matches(&format!("The part {half} is done.")).count(), 1, "{wire}: {last}");
        }

        let params = GetTaskParams { task_id: task.task_id.to_string(), history: true };
        let history = world.client.call::<GetTask>(params).await.unwrap().history.unwrap();
        let phases: Vec<String> = history
            .events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::PhaseBegan(began) => Some(format!("{} {}", began.step, began.phase.name())),
                _ => None,
            })
            .collect();
        assert_eq!(phases, ["0 clarify", "0 inquire", "0 split", "1 act", "2 act", "2 summarize"], "{wire}");
    }
    world.model.assert_no_violations();
}
