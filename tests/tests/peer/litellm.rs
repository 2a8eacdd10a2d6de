//! LiteLLM's proxy between the daemon and the strict model server.

use abide_client::protocol::{method::task::StartTaskParams, task::Status};
use abide_tests::{
    daemon::Config,
    model_server::{ModelServer, Turn},
    peer::LiteLlm,
    world::World,
};

#[tokio::test]
#[ignore = "takes minutes and 742 MB to install: tests/nightly does, and runs it"]
async fn a_task_with_a_command_completes_over_both_apis() {
    let model = ModelServer::start().await;
    let proxy = LiteLlm::start(&model).await;
    let config = Config::new().provider("chat", "openai-chat", &proxy.openai_url(), "").provider(
        "messages",
        "anthropic",
        &proxy.anthropic_url(),
        "",
    );
    let world = World::configured(model, &config).await;
    for provider in ["chat", "messages"] {
        let command = format!("echo {provider} >> ran; echo seen-$((40 + 2))");
        world.model.script(provider, [Turn::shell(&command).plain(), Turn::done("Done.")]);
        let name = format!("{provider}/{}", LiteLlm::MODEL);
        let task = world.begin(StartTaskParams { model: Some(name), ..world.task(provider) }).await;
        let end = world.wait_end(task).await;
        assert_eq!(end.status, Status::Completed, "{provider}: {end:?}");
        let requests = world.model.requests(provider);
        assert_eq!(requests.len(), 2, "{provider}: {requests:?}");
        assert!(requests[1].text().contains("seen-42"), "{provider}: {:?}", requests[1]);
    }
    assert_eq!(std::fs::read_to_string(world.daemon.workspace().join("ran")).unwrap(), "chat\nmessages\n");
}
