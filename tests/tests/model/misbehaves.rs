//! A model that misbehaves: the task survives, and nothing happens twice.

use abide_client::protocol::{message::Role, method::task::StartTaskParams, task::Status};
use abide_tests::{
    daemon::Config,
    ledger,
    model_server::{Fault, Gate, ModelServer, Turn},
    world::World,
};
use serde_json::json;

/// The faults of the first attempt, named for the script.
fn faults() -> Vec<(&'static str, Fault)> {
    vec![
        ("429", Fault::Status { code: 429, retry_after: Some(1) }),
        ("500", Fault::Status { code: 500, retry_after: None }),
        ("503", Fault::Status { code: 503, retry_after: None }),
        ("529", Fault::Status { code: 529, retry_after: None }),
        ("408", Fault::Status { code: 408, retry_after: None }),
        ("closed", Fault::Close),
        ("cut-at-once", Fault::Cut { after: 0 }),
        ("cut", Fault::Cut { after: 700 }),
        ("reported", Fault::Reported { after_events: 3 }),
        ("failed", Fault::Failed { after_events: 3 }),
        ("stalled-at-once", Fault::Stall { after: 0, gate: Gate::new("a stall before the first byte") }),
        ("stalled", Fault::Stall { after: 700, gate: Gate::new("a stall in the middle") }),
    ]
}

/// All faults at the same time, each in a conversation of its own, over every API.
#[tokio::test]
async fn every_fault_is_survived_over_every_api() {
    let model = ModelServer::start().await;
    // A reply that comes is never this slow, also on a busy machine: it would be a second failure.
    let more = "stall_timeout_secs = 10\nmax_parallel = 64";
    let config = Config::with(&model)
        .provider("impatient-openai", "openai-chat", &model.openai_url(), more)
        .provider("impatient-responses", "openai-responses", &model.openai_url(), more)
        .provider("impatient-anthropic", "anthropic", &model.anthropic_url(), more);
    let world = World::configured(model, &config).await;
    let witness = world.witness();
    let mut tasks = Vec::new();
    let all =
        ["openai", "responses", "anthropic"].map(|api| faults().into_iter().map(move |fault| (api, fault)));
    for (provider, (name, fault)) in all.into_iter().flatten() {
        let key = format!("{provider}-{name}");
        let turn = Turn::say("Let me run it, ")
            .text("once.")
            .call("shell", json!({ "command": witness.command(&key) }));
        world.model.script(&key, [turn.but_first(fault), Turn::done("Done.")]);
        let model = Some(format!("impatient-{provider}/scripted-1"));
        tasks.push((key.clone(), world.begin(StartTaskParams { model, ..world.task(&key) }).await));
    }
    for (key, task) in tasks {
        let end = world.wait_end(task).await;
        assert_eq!(
            (end.status, end.summary.as_deref()),
            (Status::Completed, Some("Done.")),
            "{key}: {end:?}"
        );
        assert_eq!(witness.count(&key), 1, "{key}");
        let (messages, _) = world.messages(task.conversation_id).await;
        let said: Vec<_> =
            messages.iter().filter(|m| m.role == Role::Agent).map(|m| m.text.as_str()).collect();
        assert_eq!(said, ["Let me run it, once.", "Done."], "{key}: said once, whole");
        let failures = ledger::of(&world.daemon.home(), task.conversation_id)
            .iter()
            .filter(|l| l.kind == "model_failed")
            .count();
        assert_eq!(failures, 1, "{key}");
    }
}
