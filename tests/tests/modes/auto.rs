//! Mode `auto`, which a task has when nothing else is said.

use abide_client::protocol::{
    method::task::StartTaskParams,
    task::{EndReason, Mode},
};
use abide_tests::{daemon::WIRES, model_server::Turn, world::World};
use serde_json::json;

/// The text is shown once, and is the task's summary.
#[tokio::test]
async fn the_first_reply_without_a_call_ends_the_task_and_costs_no_extra_request() {
    let world = World::start().await;
    for (wire, model) in WIRES {
        let (answer, work) = (format!("answer-{wire}"), format!("work-{wire}"));
        let look = Turn::say("I look.").call("list", json!({}));
        for (key, script) in
            [(&answer, vec![Turn::say("It is noon.")]), (&work, vec![look, Turn::say("It is noon.")])]
        {
            let requests = script.len();
            world.model.script(key, script);
            let params = StartTaskParams { mode: None, model: Some(model.to_owned()), ..world.task(key) };
            let task = world.begin(params).await;
            let end = world.wait_end(task).await;
            assert_eq!(
                (end.end_reason, end.mode, end.incomplete),
                (Some(EndReason::Completed), Mode::Auto, None),
                "{key}"
            );
            assert_eq!(end.summary.as_deref(), Some("It is noon."), "{key}");
            assert_eq!(world.model.requests(key).len(), requests, "{key}");
            let said = world.texts(task.conversation_id).await;
            assert_eq!(said.iter().filter(|text| *text == "It is noon.").count(), 1, "{key}: {said:?}");
        }
    }
    world.model.assert_no_violations();
}
