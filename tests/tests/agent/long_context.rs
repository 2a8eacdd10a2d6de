//! A long task leaves old outputs out of its requests, over all model APIs. The records keep them.

use abide_client::protocol::{method::task::StartTaskParams, task::EndReason};
use abide_tests::{
    daemon::{Config, WIRES},
    model_server::{Gate, ModelServer, Turn},
    world::World,
};
use serde_json::json;

#[tokio::test]
async fn old_outputs_are_left_out_of_requests_and_stay_in_the_records() {
    let model = ModelServer::start().await;
    // Each reply of the server counts 110 tokens.
    let config = Config::with(&model).task("compact_at_tokens = 100");
    let mut world = World::configured(model, &config).await;
    for (wire, model) in WIRES {
        let key = format!("long-{wire}");
        let gate = Gate::new("the last reply");
        let long = |round| Turn::shell(&format!("printf 'x%.0s' $(seq 600) # {round}"));
        let done = Turn::new().gate(&gate).call("task_complete", json!({ "summary": "Done." }));
        let script: Vec<Turn> = (0..5).map(long).chain([done]).collect();
        world.model.script(&key, script);
        let task = world.begin(StartTaskParams { model: Some(model.to_owned()), ..world.task(&key) }).await;
        gate.reached().await;
        world.crash_and_restart().await;
        gate.open();
        assert_eq!(world.wait_end(task).await.end_reason, Some(EndReason::Completed), "{key}");
        for request in &world.model.requests(&key) {
            let text = request.text();
            let outputs = (text.matches("left out to fit").count(), text.matches(&"x".repeat(600)).count());
            let expected = [(0, 0), (0, 1), (0, 2), (0, 3), (1, 3), (2, 3)][request.turn];
            assert_eq!(outputs, expected, "{key}: left out and whole in request {}", request.turn);
        }
        let (_, calls) = world.messages(task.conversation_id).await;
        let kept = calls.iter().filter_map(|call| call.result.as_ref());
        let kept = kept.filter(|result| result.text().contains(&"x".repeat(600)));
        assert_eq!(kept.count(), 5, "{key}");
    }
    world.model.assert_no_violations();
}
