//! Fifty conversations at once, one daemon.

use abide_client::protocol::{
    method::{self, task::StartTaskReply},
    task::Status,
};
use abide_tests::{
    daemon::Config,
    model_server::{Gate, ModelServer, Script, Turn},
    wait,
    world::{World, named},
};
use serde_json::json;

const CONVERSATIONS: usize = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_conversations_at_once_finish() {
    let model = ModelServer::start().await;
    let config = Config::with(&model)
        .provider("many", "openai-chat", &model.openai_url(), "max_parallel = 64")
        .default_model("many/scripted-1");
    let world = World::configured(model, &config).await;
    // The gate holds all until the last has begun, so that they run at the same time.
    let gate = Gate::new("all fifty");
    let script = {
        let gate = gate.clone();
        Script::by(move |n| match n {
            0 => Some(Turn::say("Hello.").gate(&gate).call("list", json!({}))),
            1 => Some(Turn::new().call("write", json!({ "path": "same.txt", "content": "same\n" }))),
            2 => Some(Turn::done("Done.")),
            _ => None,
        })
    };
    world.model.script_for_all(script);
    let mut tasks: Vec<StartTaskReply> = Vec::new();
    for n in 0..CONVERSATIONS {
        tasks.push(world.begin(world.task(&format!("c{n}"))).await);
    }
    gate.reached_times(CONVERSATIONS).await;
    let status = world.client.call::<method::Status>(method::daemon::StatusParams::default()).await.unwrap();
    assert_eq!(status.tasks.running, CONVERSATIONS as u64);
    gate.open();
    wait::within("all fifty to end", async {
        for task in &tasks {
            let end = world.wait_end(*task).await;
            assert_eq!((end.status, end.step_count), (Status::Completed, 3), "{end:?}");
        }
    })
    .await;
    for (n, task) in tasks.iter().enumerate() {
        assert_eq!(world.model.requests(&format!("c{n}")).len(), 3);
        let whole = world.client.call::<method::GetTask>(named(*task).into()).await.unwrap();
        assert!(whole.calls.iter().all(|c| c.result.as_ref().is_some_and(|r| r.ok)), "{:?}", whole.calls);
    }
}
