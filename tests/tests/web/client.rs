//! The terminal client in `clients/`, driven by a script.

use super::open::free_port;
use abide_tests::{
    daemon::Config,
    http::HttpClient,
    model_server::{Gate, ModelServer, Outcome, Seen, Turn},
    process,
    skip::skip,
    world::World,
};
use serde_json::{Value, json};
use std::path::Path;
use tokio::process::Command;

/// The client with Node; `None`: there is no Node.
async fn client(world: &World, base: &str, token: &str) -> Option<Command> {
    process::program("node").arg("--version").output().await.ok()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients/server-client.mjs");
    let mut command = process::program("node");
    command.arg(script).arg("--base").arg(base).arg("--workspace").arg(world.daemon.workspace());
    command.env("ABIDE_HTTP_TOKEN", token);
    Some(command)
}

#[tokio::test]
async fn what_it_prints_is_what_is_recorded_though_the_daemon_is_killed_in_mid_reply() {
    let model = ModelServer::start().await;
    let base = format!("http://127.0.0.1:{}", free_port());
    let config = Config::with(&model).http(&format!("listen = [\"{base}\"]"));
    let mut world = World::configured(model, &config).await;
    let token = world.daemon.cli().ok(&["token", "add", "laptop"]).await;
    let Some(mut client) = client(&world, &base, token.trim()).await else {
        return skip(
            "what_it_prints_is_what_is_recorded_though_the_daemon_is_killed_in_mid_reply",
            "Node is not installed; the test command installs it",
        );
    };
    let witness = world.witness();
    let gate = Gate::new("a reply that is half said");
    let script = [
        Turn::say("I will look.").call("shell", json!({ "command": witness.command("once") })),
        Turn::say("Half a ")
            .gate(&gate)
            .text("réply, and the rest.")
            .call("ask_user", json!({ "question": "Which colour?" })),
        Turn::say("Done then.").call("task_complete", json!({ "summary": "It is blue." })),
    ];
    world.model.script("killed", script);
    client.stdin(process::input("[k:killed] Do what the script says.\ny go on\nBlue.\n"));
    let cut = async {
        // Killed once the half that was said has been published.
        gate.reached().await;
        let device = HttpClient::at(&base, Some(token.trim()));
        let session = device.get("/api/sessions").await.json()["conversations"][0]["id"].clone();
        let session = session.as_str().unwrap().to_owned();
        let mut stream = device.stream(&session, None).await;
        stream
            .until(|event| event.data["text"].as_str().is_some_and(|text| text.starts_with("Half a")))
            .await;
        world.daemon.kill();
        let cut = |requests: &[Seen]| requests.last().unwrap().outcome == Outcome::Abandoned;
        world.model.wait_for_requests("the cut of the request", "killed", cut).await;
        world.daemon.up().await;
        gate.reached_times(2).await;
        gate.open();
        session
    };
    let (output, session) = tokio::join!(process::finished(&mut client), cut);
    let output = output.unwrap();
    let (said, told) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{told}");
    let recorded = world.daemon.cli().json(&["messages", &session]).await;
    let of_agent = |message: &&Value| message["role"] == "agent" && message["kind"] == "text";
    let texts = recorded["messages"].as_array().unwrap().iter().filter(of_agent);
    let texts: Vec<&str> = texts.map(|message| message["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["I will look.", "Half a réply, and the rest.", "Done then.", "It is blue."]);
    assert_eq!(said, format!("{}\n", texts.join("\n")), "{told}");
    assert_eq!(witness.marks(), ["once"]);
    for words in ["Approve shell", "allow_once (laptop)", "Which colour?", "Blue.", "completed"] {
        assert!(told.contains(words), "no {words:?} in {told}");
    }
}
