//! Mode `auto`, which a task has when nothing else is said.

use abide_client::protocol::{
    method::task::StartTaskParams,
    task::{EndReason, Mode},
};
use abide_tests::{daemon::WIRES, model_server::Turn, world::World};
use serde_json::json;

#[tokio::test]
async fn the_first_reply_decides_and_costs_no_extra_request() {
    let mut world = World::start().await;
    for (wire, model) in WIRES {
        let params =
            |key: &str| StartTaskParams { mode: None, model: Some(model.to_owned()), ..world.task(key) };
        let (answer, work) = (format!("answer-{wire}"), format!("work-{wire}"));
        world.model.script(&answer, [Turn::say("It is noon.")]);
        let task = world.begin(params(&answer)).await;
        let end = world.wait_end(task).await;
        assert_eq!((end.end_reason, end.mode), (Some(EndReason::Completed), Mode::Chat), "{answer}");
        assert_eq!(world.model.requests(&answer).len(), 1, "{answer}");

        let look = Turn::say("I look.").call("list", json!({}));
        world.model.script(&work, [look, Turn::say("Text alone."), Turn::done("Done.")]);
        let task = world.begin(params(&work)).await;
        let end = world.wait_end(task).await;
        assert_eq!((end.summary.as_deref(), end.mode), (Some("Done."), Mode::Agent), "{work}");
        world.crash_and_restart().await;
        assert_eq!(world.get(task).await.task.mode, Mode::Agent, "{work}");
    }
    world.model.assert_no_violations();
}
