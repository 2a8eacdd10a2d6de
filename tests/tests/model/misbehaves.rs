//! A model that misbehaves: the task survives, and nothing happens twice.

use abide_client::protocol::{
    event::EventKind,
    message::{MessageKind, Role},
    method::{
        GetTask,
        task::{GetTaskParams, StartTaskParams},
    },
    task::{EndReason, Incomplete, Status},
};
use abide_tests::{
    daemon::{Config, WIRES},
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

/// All faults at the same time, each in a conversation of its own, over this API.
async fn survives_all(provider: &str) {
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
    for (name, fault) in faults() {
        let key = format!("{provider}-{name}");
        let turn = Turn::say("Let me run it, ")
            .text("once.")
            .call("shell", json!({ "command": witness.command(&key) }));
        world.model.script(&key, [turn.but_first(fault), Turn::done("Done.")]);
        let model = Some(format!("impatient-{provider}/scripted-1"));
        tasks.push((name, key.clone(), world.begin(StartTaskParams { model, ..world.task(&key) }).await));
    }
    for (name, key, task) in tasks {
        let end = world.wait_end(task).await;
        assert_eq!(
            (end.status, end.summary.as_deref()),
            (Status::Completed, Some("Done.")),
            "{name}: {end:?}"
        );
        assert_eq!(witness.count(&key), 1, "{name}");
        let (messages, _) = world.messages(task.conversation_id).await;
        let said: Vec<_> =
            messages.iter().filter(|m| m.role == Role::Agent).map(|m| m.text.as_str()).collect();
        assert_eq!(said, ["Let me run it, once.", "Done."], "{name}: said once, whole");
        let failures = ledger::of(&world.daemon.home(), task.conversation_id)
            .iter()
            .filter(|l| l.kind == "model_failed")
            .count();
        assert_eq!(failures, 1, "{name}");
    }
}

#[tokio::test]
async fn over_openai_chat_every_fault_is_survived() {
    survives_all("openai").await;
}

#[tokio::test]
async fn over_openai_responses_every_fault_is_survived() {
    survives_all("responses").await;
}

#[tokio::test]
async fn over_anthropic_messages_every_fault_is_survived() {
    survives_all("anthropic").await;
}

#[tokio::test]
async fn an_event_that_makes_no_sense_is_left_out_and_kept_as_a_trace() {
    let world = World::start().await;
    let odd = [Fault::Malformed { after_events: 3 }, Fault::Unknown { after_events: 3 }];
    for ((wire, model), odd) in WIRES.into_iter().flat_map(|wire| odd.clone().map(|odd| (wire, odd))) {
        let key = format!("{odd:?}-{wire}");
        let turn = Turn::say("Said ").text("once.").but_first(odd);
        world.model.script(&key, [turn, Turn::done("Done.")]);
        let task = world.begin(StartTaskParams { model: Some(model.to_owned()), ..world.task(&key) }).await;
        let end = world.wait_end(task).await;
        assert_eq!((end.status, end.usage.model_calls), (Status::Completed, 2), "{key}: {end:?}");
        assert_eq!(world.texts(task.conversation_id).await[1], "Said once.", "{key}");
        let params = GetTaskParams { task_id: task.task_id.to_string(), history: true };
        let history = world.client.call::<GetTask>(params).await.unwrap().history.expect("it was asked for");
        let traced = history.events.iter().find_map(|event| match &event.kind {
            EventKind::ModelTraced(traced) => Some(traced),
            _ => None,
        });
        let traced = traced.expect("the event is kept");
        assert_eq!((traced.count, traced.traces.len()), (1, 1), "{key}: {traced:?}");
        assert!(!traced.traces[0].raw.is_empty(), "{key}: {traced:?}");
    }
}

#[tokio::test]
async fn a_task_with_only_cut_or_empty_replies_ends_as_incomplete() {
    let world = World::start().await;
    let cut = || Turn::say("and then").cut_at_length();
    for (key, script, expected, words) in [
        ("cut", [cut(), cut(), cut()], Incomplete::Length, "length limit"),
        ("silent", [Turn::new(), Turn::new(), Turn::new()], Incomplete::Empty, "without a word"),
    ] {
        world.model.script(key, script);
        let task = world.begin(world.task(key)).await;
        let end = world.wait_end(task).await;
        let outcome = (end.end_reason, end.incomplete, end.step_count);
        assert_eq!(outcome, (Some(EndReason::Completed), Some(expected), 3), "{key}: {end:?}");
        let (messages, _) = world.messages(task.conversation_id).await;
        let notice = messages.iter().find(|m| m.kind == MessageKind::Notice).expect("a notice");
        assert!(notice.text.contains(words) && notice.text.contains("“go on”"), "{notice:?}");
    }
}

#[tokio::test]
async fn characters_survive_any_split_of_the_bytes() {
    let world = World::start().await;
    let text = "naïve — 日本語 🦀 «ça va»";
    for size in [1, 2, 3, 7] {
        for (wire, model) in WIRES {
            let key = format!("utf8-{wire}-{size}");
            let script = [
                Turn::say(text).bytes_at_a_time(size),
                Turn::new().call("task_complete", json!({ "summary": text })).bytes_at_a_time(size),
            ];
            world.model.script(&key, script);
            let task =
                world.begin(StartTaskParams { model: Some(model.to_owned()), ..world.task(&key) }).await;
            let end = world.wait_end(task).await;
            assert_eq!(end.summary.as_deref(), Some(text), "{key}");
            assert_eq!(world.texts(task.conversation_id).await[1], text, "{key}");
        }
    }
}

#[tokio::test]
async fn a_call_that_is_cut_at_the_length_limit_never_runs() {
    let world = World::start().await;
    let witness = world.witness();
    for (wire, model) in WIRES {
        let key = format!("length-{wire}");
        let script = [
            Turn::new()
                .reasoning("Hm.")
                .text("I begin a long call.")
                .call("shell", json!({ "command": witness.command(&key) }))
                .cut_at_length(),
            Turn::done("In smaller pieces."),
        ];
        world.model.script(&key, script);
        let task = world.begin(StartTaskParams { model: Some(model.to_owned()), ..world.task(&key) }).await;
        let end = world.wait_end(task).await;
        assert_eq!(end.summary.as_deref(), Some("In smaller pieces."), "{key}");
        assert_eq!(witness.count(&key), 0, "{key}");
        assert!(world.model.requests(&key)[1].text().contains("length limit"), "the model is told");
    }
}

#[tokio::test]
async fn arguments_that_are_no_json_are_an_error_result() {
    let world = World::start().await;
    for (wire, model) in WIRES {
        let key = format!("arguments-{wire}");
        let script = [Turn::new().raw_call("shell", "{\"command\": true false}"), Turn::done("Understood.")];
        world.model.script(&key, script);
        let task = world.begin(StartTaskParams { model: Some(model.to_owned()), ..world.task(&key) }).await;
        assert_eq!(world.wait_end(task).await.summary.as_deref(), Some("Understood."), "{key}");
    }
}

#[tokio::test]
async fn a_refusal_ends_the_task_and_is_shown() {
    let world = World::start().await;
    for (wire, model) in WIRES {
        let key = format!("refusal-{wire}");
        world.model.script(&key, [Turn::say("I cannot help with that.").refused()]);
        let task = world.begin(StartTaskParams { model: Some(model.to_owned()), ..world.task(&key) }).await;
        let end = world.wait_end(task).await;
        assert_eq!(end.status, Status::Error, "{key}: {end:?}");
        assert!(end.error_message.is_some_and(|words| words.contains("declined")), "{key}");
        assert_eq!(world.texts(task.conversation_id).await[1], "I cannot help with that.", "{key}");
    }
}
