//! Keys reach their provider only; prompts stay out of the log.

use abide_client::protocol::{
    method::{self, daemon::SetKeyParams, task::StartTaskParams},
    task::Approvals,
};
use abide_tests::{
    daemon::{Config, TestDaemon, WIRES},
    model_server::{ModelServer, Turn},
    world::World,
};
use std::path::Path;

const FROM_ENVIRONMENT: &str = "sk-canary-environment";
const STORED: &str = "sk-canary-stored";

/// All files beneath a folder that contain these bytes.
fn files_with(folder: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    let entries = match std::fs::read_dir(folder) {
        // The placeholders of a sandbox go after the end of their task.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return found,
        entries => entries.unwrap(),
    };
    for entry in entries.map(|e| e.unwrap().path()) {
        if entry.is_dir() {
            found.extend(files_with(&entry, needle));
        } else if std::fs::read(&entry).is_ok_and(|b| b.windows(needle.len()).any(|w| w == needle.as_bytes()))
        {
            found.push(entry.display().to_string());
        }
    }
    found
}

#[tokio::test]
async fn a_key_reaches_its_provider_and_no_log_no_database_no_tool() {
    let model = ModelServer::start().await;
    let config = Config::with(&model)
        .provider("keyed", "openai-chat", &model.openai_url(), "api_key_env = \"KEYED_API_KEY\"")
        .provider("stored", "anthropic", &model.anthropic_url(), "");
    let mut daemon = TestDaemon::new(&config);
    daemon.set_env("KEYED_API_KEY", FROM_ENVIRONMENT);
    daemon.set_env("ABIDE_LOG", "debug");
    let world = World::of(model, daemon).await;
    let params = SetKeyParams { provider: "stored".to_owned(), key: Some(STORED.to_owned()) };
    world.client.call::<method::SetKey>(params).await.unwrap();
    for (key, model) in [("keyed", "keyed/scripted-1"), ("stored", "stored/scripted-1")] {
        world.model.script(key, [Turn::shell("env; cat /proc/$PPID/environ"), Turn::done("Done.")]);
        let task = world.begin(StartTaskParams { model: Some(model.to_owned()), ..world.task(key) }).await;
        world.wait_end(task).await;
    }
    let (keyed, stored) = (world.model.requests("keyed").remove(0), world.model.requests("stored").remove(0));
    assert_eq!(keyed.header("authorization"), Some(format!("Bearer {FROM_ENVIRONMENT}").as_str()));
    assert_eq!(stored.header("x-api-key"), Some(STORED));
    assert_eq!(files_with(world.daemon.root(), FROM_ENVIRONMENT), Vec::<String>::new());
    let kept_in = world.daemon.home().key_file().display().to_string();
    assert_eq!(files_with(world.daemon.root(), STORED), [kept_in], "in the one file that is made for it");
    for request in [world.model.requests("keyed"), world.model.requests("stored")].concat() {
        assert!(!request.text().contains("sk-canary"), "a tool saw a key and told the model");
    }
    // Without a key none is sent.
    for (key, model) in WIRES {
        world.model.script(key, [Turn::done("Done.")]);
        let task = world.begin(StartTaskParams { model: Some(model.to_owned()), ..world.task(key) }).await;
        world.wait_end(task).await;
        let request = world.model.requests(key).remove(0);
        assert_eq!((request.header("authorization"), request.header("x-api-key")), (None, None));
    }
}

#[tokio::test]
async fn outside_of_the_sandbox_a_command_has_the_clients_environment_and_its_secrets_are_nowhere() {
    let world = World::start().await;
    let mut environment = world.daemon.variables();
    environment.extend(
        [("GITHUB_TOKEN", "canary-of-the-client"), ("DISPLAY", ":of-the-client")]
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    world.model.script("client", [Turn::outside("env"), Turn::done("Done.")]);
    let approvals = Approvals::AllowAll;
    let task = world.begin(StartTaskParams { environment, approvals, ..world.task("client") }).await;
    world.wait_end(task).await;
    let told = world.model.last_request("client").unwrap().text();
    assert!(told.contains("DISPLAY=:of-the-client") && !told.contains("canary"), "{told}");
    assert_eq!(files_with(world.daemon.root(), "canary-of-the-client"), Vec::<String>::new());
}

#[tokio::test]
async fn the_log_has_no_prompt_and_no_reply() {
    let world = World::start().await;
    let task = world
        .run(
            "quiet",
            [Turn::say("A-word-of-the-model."), Turn::shell("echo A-word-of-the-tool"), Turn::done("Done.")],
        )
        .await;
    world.wait_end(task).await;
    for words in ["Do what the script says", "A-word-of-the-model", "A-word-of-the-tool"] {
        assert_eq!(files_with(&world.daemon.home().state_dir, words), Vec::<String>::new());
        assert!(!world.daemon.output().contains(words));
    }
}
