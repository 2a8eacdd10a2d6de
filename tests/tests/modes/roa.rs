//! Mode `roa`: reason, act, observe, over all model APIs.

use abide_client::protocol::{
    event::EventKind,
    method::{
        GetTask,
        task::{GetTaskParams, StartTaskParams},
    },
    task::{EndReason, Mode},
};
use abide_tests::{
    daemon::WIRES,
    model_server::{Gate, Turn},
    world::World,
};
use serde_json::json;

const LOOK: &str =
    "I look.\n\n```json\n{\"plan\": \"Look.\", \"tools_to_consider\": [\"shell\"], \"finish\": false}\n```";
const MORE: &str = r#"{"observation": "Half of it.", "should_continue": true, "final_answer": ""}"#;
const DONE: &str = r#"{"observation": "All of it.", "should_continue": false, "final_answer": "It is 42."}"#;

fn roa(world: &World, key: &str, model: &str) -> StartTaskParams {
    StartTaskParams { mode: Some(Mode::Roa), model: Some(model.to_owned()), ..world.task(key) }
}

/// The daemon is killed in the middle of each phase of the first step.
#[tokio::test]
async fn two_steps_survive_a_crash_in_each_phase_and_the_prefix_only_grows() {
    let mut world = World::start().await;
    for (wire, model) in WIRES {
        let key = format!("roa-{wire}");
        let witness = world.witness();
        let gates = ["in reason", "in act", "in observe"].map(Gate::new);
        let script = [
            Turn::new().text("I look.").gate(&gates[0]).text(&LOOK["I look.".len()..]),
            Turn::new().gate(&gates[1]).call("shell", json!({ "command": witness.command(&key) })),
            Turn::new().gate(&gates[2]).text(MORE),
            Turn::say("{}"),
            Turn::say("Nothing to do."),
            Turn::say(DONE),
        ];
        world.model.script(&key, script);
        let task = world.begin(roa(&world, &key, model)).await;
        for gate in &gates {
            gate.reached().await;
            world.crash_and_restart().await;
            gate.open();
        }
        let end = world.wait_end(task).await;
        assert_eq!(
            (end.end_reason, end.step_count, end.mode),
            (Some(EndReason::Completed), 2, Mode::Roa),
            "{key}"
        );
        assert_eq!(end.summary.as_deref(), Some("It is 42."), "{key}");
        assert_eq!(witness.marks().iter().filter(|mark| **mark == key).count(), 1, "{key}");
        let texts = world.texts(task.conversation_id).await;
        let said = ["I look.", "Half of it.", "{}", "Nothing to do.", "All of it.", "It is 42."];
        assert_eq!(texts[1..], said, "{key}");

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
        assert_eq!(phases, ["1 reason", "1 act", "1 observe", "2 reason", "2 act", "2 observe"], "{key}");
        if wire != "anthropic" {
            let choices: Vec<_> =
                world.model.requests(&key).iter().map(|r| r.body["tool_choice"].clone()).collect();
            let none = json!("none");
            assert_eq!(choices.iter().filter(|choice| **choice == none).count(), choices.len() - 3, "{key}");
        }
    }
    world.model.assert_no_violations();
}
