//! What a plan is given of earlier conversations before each of its steps.

use super::recall::ask;
use abide_client::protocol::{
    event::EventKind,
    method::{
        self,
        task::{GetTaskParams, StartTaskParams},
    },
    task::{Mode, Status},
};
use abide_fail_point::{Point, VARIABLE};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{ModelServer, Turn},
    world::World,
};
use serde_json::json;

#[tokio::test]
async fn a_step_is_given_what_has_to_do_with_the_step_before_and_a_crash_looks_again() {
    // The step's first call is its own; the second one recalls.
    for point in [Point::ToolStart, Point::ToolFinished] {
        let model = ModelServer::start().await;
        let mut daemon = TestDaemon::new(&Config::with(&model).memory());
        daemon.set_env_once(VARIABLE, &format!("{}:2", point.name()));
        let mut world = World::of(model, daemon).await;
        world.model.script("fact", [Turn::done("The staging database listens on port 5433.")]);
        world.model.script("other", [Turn::done("The logo is blue.")]);
        for (key, asks) in [("fact", "Look it up."), ("other", "Which colour?")] {
            let task = ask(&world, key, asks, world.task(key)).await;
            world.wait_end(task).await;
        }
        let looks = json!({ "tool_name": "list", "parameters": { "path": "." } });
        let first = json!({ "reasoning": "Where does staging listen?", "tool_calls": [looks] });
        let second = json!({ "reasoning": "Prepared.", "tool_calls": [], "is_complete": true });
        world.model.script("plan", [Turn::say(first.to_string()), Turn::say(second.to_string())]);
        let params = StartTaskParams { mode: Some(Mode::Plan), ..world.task("plan") };
        let task = ask(&world, "plan", "Prepare the release.", params).await;
        world.daemon.ended().await;
        world.daemon.up().await;
        world.client = world.daemon.client().await;
        assert_eq!(world.wait_end(task).await.status, Status::Completed, "{point:?}");

        let given: Vec<bool> =
            world.model.requests("plan").iter().map(|request| request.text().contains("port 5433")).collect();
        assert_eq!(given, [false, true], "{point:?}");
        world.model.assert_no_violations();
        let params = GetTaskParams { task_id: task.task_id.to_string(), history: true };
        let reply = world.client.call::<method::GetTask>(params).await.expect("the task is there");
        let events = reply.history.expect("it was asked for").events;
        let found = |event: &EventKind| match event {
            EventKind::Recalled(recalled) => {
                Some(recalled.snippets.iter().any(|snippet| snippet.text.contains("5433")))
            }
            _ => None,
        };
        let recalled: Vec<bool> = events.iter().filter_map(|event| found(&event.kind)).collect();
        assert_eq!(recalled, [false, true], "at the start and before the second step: {point:?}");
    }
}
