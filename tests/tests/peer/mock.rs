//! fakellm, another project's mock server with tool calls.

use abide_client::protocol::{method::task::StartTaskParams, task::Status};
use abide_tests::{daemon::Config, model_server::ModelServer, peer::Server, skip::skip, world::World};

#[tokio::test]
async fn a_tool_call_runs_and_its_result_comes_back_over_both_apis() {
    let Some(mock) = Server::fakellm().await else {
        return skip(
            "a_tool_call_runs_and_its_result_comes_back_over_both_apis",
            "fakellm is not installed; the test command installs it",
        );
    };
    let config = Config::new().provider("chat", "openai-chat", &mock.openai_url(), "").provider(
        "messages",
        "anthropic",
        &mock.anthropic_url(),
        "",
    );
    let world = World::configured(ModelServer::start().await, &config).await;
    for provider in ["chat", "messages"] {
        // The prompts differ, because fakellm takes two tasks with the same beginning for one conversation.
        let task = world
            .begin(StartTaskParams { model: Some(format!("{provider}/mock")), ..world.task(provider) })
            .await;
        let end = world.wait_end(task).await;
        assert_eq!(end.status, Status::Completed, "{provider}: {end:?}");
        let (_, calls) = world.messages(task.conversation_id).await;
        let tools: Vec<_> = calls.iter().map(|call| call.tool.as_str()).collect();
        assert_eq!(tools, ["shell", "task_complete"], "{provider}: {calls:?}");
    }
    // One run over each API.
    assert_eq!(std::fs::read_to_string(world.daemon.workspace().join("ran")).unwrap(), "once\nonce\n");
}
