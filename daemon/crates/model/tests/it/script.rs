//! Scripts, and the built-in demo from start to end, in paused time.

use crate::ask::{OneKey, request, tool};
use abide_model::{ModelEvent, ModelRequest, Models, Prices, ProviderConfig};
use abide_protocol::{
    record::ModelErrorKind,
    transcript::{CallBlock, Entry, Reply, ResultEntry, StopReason},
};
use std::{io::Write as _, sync::Arc, time::Duration};
use tokio::time::Instant;

fn models(config: ProviderConfig) -> Models {
    Models::new(vec![config], Arc::new(OneKey(None)), Prices::built_in())
}

fn demo_request(entries: Vec<Entry>, tools: &[&str]) -> ModelRequest {
    ModelRequest {
        model: "demo/demo".to_owned(),
        tools: tools.iter().map(|name| tool(name)).collect(),
        ..request(entries)
    }
}

const TOOLS: [&str; 9] =
    ["shell", "read", "write", "patch", "list", "create_dir", "task_complete", "ask_user", "send_update"];

/// The course of one run of the demo.
struct Run {
    replies: Vec<Reply>,
    calls: Vec<CallBlock>,
    pieces: u32,
    took: Duration,
}

impl Run {
    fn tools(&self) -> Vec<&str> {
        self.calls.iter().map(|c| c.tool.as_str()).collect()
    }

    fn arguments(&self, tool: &str) -> serde_json::Value {
        serde_json::from_str(&self.calls.iter().find(|c| c.tool == tool).unwrap().arguments).unwrap()
    }
}

/// Plays the demo as the engine does: a request, its calls, their results, the next request. Each request
/// goes to a new `Models`, as after a restart of the daemon.
async fn run_demo(mut answer: impl FnMut(&CallBlock) -> (bool, &'static str)) -> Run {
    let mut entries = vec![Entry::User("show me".to_owned())];
    let begin = Instant::now();
    let mut run = Run { replies: Vec::new(), calls: Vec::new(), pieces: 0, took: Duration::ZERO };
    for _ in 0..12 {
        let mut sink = |event| {
            if !matches!(event, ModelEvent::ToolCallStarted { .. } | ModelEvent::ToolCallReady { .. }) {
                run.pieces += 1;
            }
        };
        let request = demo_request(entries.clone(), &TOOLS);
        let reply = models(ProviderConfig::demo()).complete(request, &mut sink).await.unwrap();
        entries.push(Entry::Reply(Arc::new(reply.clone())));
        run.replies.push(reply.clone());
        for call in reply.calls() {
            run.calls.push(call.clone());
            if call.tool == "task_complete" {
                run.took = begin.elapsed();
                return run;
            }
            let (ok, text) = answer(call);
            entries.push(Entry::Result(ResultEntry {
                call_id: call.id,
                provider_id: call.provider_id.clone(),
                tool: call.tool.clone(),
                ok,
                text: text.to_owned(),
                elided: false,
            }));
        }
    }
    panic!("the demo does not end: {:?}", run.tools());
}

#[tokio::test(start_paused = true)]
async fn the_demo_runs_to_its_end() {
    let run = run_demo(|call| match call.tool.as_str() {
        "ask_user" => (true, "Ada \"Lovelace\""),
        _ => (true, "done"),
    })
    .await;
    assert_eq!(run.tools(), ["list", "ask_user", "write", "shell", "read", "send_update", "task_complete"]);
    assert!(run.replies[0].text().contains("a script, not a model"));
    assert!(run.arguments("ask_user")["question"].as_str().unwrap().ends_with('?'));
    assert!(run.arguments("write")["content"].as_str().unwrap().starts_with("# Hello, Ada \"Lovelace\"!"));
    assert_eq!(run.arguments("read")["path"], run.arguments("write")["path"]);
    assert!(run.arguments("task_complete")["summary"].as_str().unwrap().contains("wrote greeting.md"));
    assert!(run.replies.iter().all(|r| r.stop_reason == StopReason::ToolCalls));
    let pace = run.took / run.pieces;
    assert!(run.took < Duration::from_secs(30), "{:?}", run.took);
    assert!((Duration::from_millis(25)..Duration::from_millis(50)).contains(&pace), "{pace:?}");
    let mut ids: Vec<_> = run.calls.iter().map(|c| c.provider_id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), run.calls.len());
}

#[tokio::test(start_paused = true)]
async fn the_demo_goes_on_when_its_write_is_rejected() {
    let run = run_demo(|call| match call.tool.as_str() {
        "write" => (false, "error: rejected by the user"),
        _ => (true, "ok"),
    })
    .await;
    assert_eq!(run.tools(), ["list", "ask_user", "write", "shell", "list", "send_update", "task_complete"]);
    assert!(run.arguments("task_complete")["summary"].as_str().unwrap().contains("Nothing was written"));
}

#[tokio::test(start_paused = true)]
async fn the_demo_ends_whatever_fails() {
    let run = run_demo(|_| (false, "error: no")).await;
    assert_eq!(run.tools(), ["list", "ask_user", "write", "shell", "list", "send_update", "task_complete"]);
    assert!(run.arguments("write")["content"].as_str().unwrap().starts_with("# Hello, world!"));
}

#[tokio::test(start_paused = true)]
async fn the_demo_starts_over_with_every_new_message_and_has_one_line_in_chat() {
    let mut sink = |_| {};
    let demo = models(ProviderConfig::demo());
    let entries = vec![Entry::User("hi".to_owned())];
    let reply = demo.complete(demo_request(entries.clone(), &[]), &mut sink).await.unwrap();
    assert_eq!((reply.stop_reason, reply.calls().count()), (StopReason::EndTurn, 0));
    assert!(reply.text().contains("a script, not a model"));

    let again = vec![entries[0].clone(), Entry::Reply(Arc::new(reply)), Entry::User("again".to_owned())];
    let reply = demo.complete(demo_request(again, &TOOLS), &mut sink).await.unwrap();
    assert_eq!(reply.calls().next().unwrap().tool, "list");
}

async fn play(script: &str, entries: Vec<Entry>) -> Result<Reply, abide_model::ModelError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(script.as_bytes()).unwrap();
    let config = ProviderConfig::scripted("s", Some(file.path().to_owned()), "config");
    let models = models(config);
    models.supports("s/x")?;
    let request = ModelRequest { model: "s/x".to_owned(), ..request(entries) };
    models.complete(request, &mut |_| {}).await
}

fn said(text: &str) -> Vec<Entry> {
    vec![Entry::User(text.to_owned())]
}

#[tokio::test(start_paused = true)]
async fn conditions_templates_and_failures() {
    let script = r#"{"name":"x","replies":[
        {"when":{"says":"fail"},"text":"so","fail":{"kind":"overloaded","message":"as written","retry_after_ms":9}},
        {"when":{"says":"cut"},"text":"half","calls":[{"tool":"t","arguments":"{br"}],"stop":"length"},
        {"when":{"says":"raw"},"calls":[{"tool":"t","arguments":"{br"}]},
        {"when":{"replies":0},"reasoning":"hm","text":"you said {{user}}, {{answer|nothing}} {{open","usage":{"input":3,"output":4}}
    ]}"#;
    let reply = play(script, said("hi")).await.unwrap();
    assert_eq!(reply.text(), "you said hi, nothing {{open");
    assert_eq!((reply.reasoning().as_str(), reply.api.as_str()), ("hm", "scripted"));
    assert_eq!((reply.usage.input, reply.usage.output, reply.usage.cost_micros), (3, 4, None));

    let error = play(script, said("fail")).await.unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::Overloaded, "as written"));
    assert_eq!((error.retry_after_ms, error.retryable), (Some(9), true));

    let cut = play(script, said("cut")).await.unwrap();
    assert_eq!((cut.stop_reason, cut.calls().count()), (StopReason::Length, 0));
    assert_eq!(play(script, said("raw")).await.unwrap().calls().next().unwrap().arguments, "{br");

    let mut beyond = said("hi");
    beyond.push(Entry::Reply(Arc::new(reply)));
    let error = play(script, beyond).await.unwrap_err();
    assert_eq!((error.kind, error.retryable), (ModelErrorKind::BadRequest, false));
}

#[tokio::test]
async fn invalid_scripts_are_refused() {
    let error = play(r#"{"name":"x","replys":[]}"#, said("hi")).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::BadRequest);
    assert!(error.message.contains("unknown field `replys`"), "{error}");
    let other = play(r#"{"name":"y","replies":[]}"#, said("hi")).await.unwrap_err();
    assert_eq!(other.kind, ModelErrorKind::NotFound);
    let nowhere = ProviderConfig::scripted("s", Some("/nonexistent/script.json".into()), "config");
    assert_eq!(models(nowhere).supports("s/x").unwrap_err().kind, ModelErrorKind::NotFound);
}
