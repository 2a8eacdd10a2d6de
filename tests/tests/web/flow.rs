//! A device that has nothing but a token and HTTP starts tasks, follows them, decides, answers and stops
//! them.

use super::open::{chat, device, message, session};
use abide_client::protocol::record::{RecordBody, Via};
use abide_tests::{
    http::SentEvent,
    ledger,
    model_server::{Gate, Turn},
    world::World,
};
use serde_json::json;

fn named<'a>(events: &'a [SentEvent], name: &str) -> Vec<&'a SentEvent> {
    events.iter().filter(|event| event.name == name).collect()
}

#[tokio::test]
async fn the_whole_flow() {
    let world = World::start().await;
    let device = device(&world).await;
    assert_eq!(device.get("/health").await.json(), json!({ "status": "ok" }));
    assert_eq!(device.get("/").await.json(), json!({ "name": "abide", "status": "ok" }));
    let session = session(&world, &device).await;
    world.model.script(
        "flow",
        [
            Turn::say("I will look.").call("shell", json!({ "command": "echo seen > seen.txt" })),
            Turn::ask("Which colour?"),
            Turn::say("Done then.").call("task_complete", json!({ "summary": "It is blue." })),
        ],
    );
    let (begun, mut stream) = chat(&device, &session, "flow").await;
    let path = |rest: &str| format!("/api/sessions/{session}/{rest}");

    let asked = stream.until(|event| event.name == "approval_required").await;
    let text: String = named(&asked, "text_delta").iter().map(|e| e.data["text"].as_str().unwrap()).collect();
    assert_eq!(text, "I will look.");
    let approval = &asked.last().unwrap().data;
    assert_eq!((&approval["tool"], &approval["taskId"]), (&json!("shell"), &begun["taskId"]), "{approval}");
    assert!(approval["argsJson"].as_str().unwrap().contains("seen.txt") && approval["reason"].is_string());
    let call = approval["callId"].as_str().unwrap();
    assert_eq!(named(&asked, "tool_call")[0].data["callId"], call);
    assert_eq!(named(&asked, "completed")[0].data["stopReason"], "tool_calls");
    assert_eq!(device.post(&path("chat"), &message("flow")).await.status, 409);

    let decided = device.post(&path(&format!("approvals/{call}")), &json!({ "approved": true })).await;
    assert_eq!((decided.status, &decided.json()["won"]), (200, &json!(true)), "{decided:?}");
    let late = device.post(&path(&format!("approvals/{call}")), &json!({ "approved": false })).await;
    assert_eq!((late.status, &late.json()["won"]), (200, &json!(false)));
    assert_eq!(late.json()["decision"], "allow_once");

    let asked = stream.until(|event| event.name == "question").await;
    assert_eq!(named(&asked, "approval_decided")[0].data["by"], json!({ "via": "http", "name": "phone" }));
    let result = &named(&asked, "tool_result")[0].data;
    assert_eq!((&result["callId"], &result["tool"]), (&json!(call), &json!("shell")));
    assert!(result["result"]["ok"].as_bool().unwrap() && result["result"]["message"].is_string());
    let question = &asked.last().unwrap().data;
    assert_eq!(question["text"], "Which colour?");
    let question = question["questionId"].as_str().unwrap();
    let answered = device.post(&path(&format!("answers/{question}")), &json!({ "response": "Blue." })).await;
    assert_eq!((answered.status, &answered.json()["won"]), (200, &json!(true)), "{answered:?}");

    let rest = stream.until_end().await;
    let end = &rest.last().unwrap().data;
    assert_eq!(
        (&end["status"], &end["endReason"], &end["stopReason"], &end["summary"]),
        (&json!("completed"), &json!("completed"), &json!("end_turn"), &json!("It is blue.")),
        "{end}"
    );
    assert_eq!(end["usage"]["modelCalls"], 3);
    assert_eq!(named(&rest, "question_answered")[0].data["response"], "Blue.");
    let records = ledger::read(&world.daemon.home());
    let by = records.iter().filter_map(|line| match line.record() {
        RecordBody::TaskStarted(started) => started.by,
        RecordBody::ApprovalDecided(decided) => Some(decided.by),
        RecordBody::QuestionAnswered(answered) => answered.by,
        _ => None,
    });
    let by: Vec<_> = by.map(|by| (by.via, by.name)).collect();
    assert_eq!(by, vec![(Via::Http, "phone".to_owned()); 3]);
    // What leaves the machine has no environment of tools.
    let started = device.stream(&session, begun["lastEventId"].as_str()).await.next().await.unwrap();
    assert_eq!((&*started.name, &started.data["kind"]), ("trace", &json!("task_started")));
    let head = &started.data["data"];
    assert_eq!(
        (&head["environment"], &head["systemPrompt"], &head["tools"]),
        (&json!({}), &json!(""), &json!([]))
    );

    let listed = device.get("/api/sessions?limit=1").await.json();
    assert_eq!(listed["conversations"][0]["id"], *session);
    let got = device.get(&format!("/api/sessions/{session}")).await.json();
    assert_eq!(got["conversation"]["task"]["status"], "completed");
    assert_eq!(got["conversation"]["title"], "[k:flow] Do what the script says.");
    assert_eq!(device.post(&path("stop"), &json!({})).await.status, 409);
}

#[tokio::test]
async fn a_task_is_stopped_and_its_session_goes_on_with_another() {
    let world = World::start().await;
    let device = device(&world).await;
    let session = session(&world, &device).await;
    let gate = Gate::new("nobody opens it");
    let first = Turn::say("So far.").gate(&gate).text(" And more.");
    world.model.script("long", [first, Turn::done("Done.")]);
    let (begun, mut stream) = chat(&device, &session, "long").await;
    stream.until(|event| event.name == "text_delta").await;
    // Without a cursor a second client gets all of the task that works.
    let mut late = device.stream(&session, None).await;
    assert_eq!(late.next().await.unwrap().data["kind"], "task_started");
    let stopped = device.post_text(&format!("/api/sessions/{session}/stop"), "").await;
    assert_eq!((stopped.status, &stopped.json()["taskId"]), (200, &begun["taskId"]), "{stopped:?}");
    for stream in [&mut stream, &mut late] {
        let end = stream.until_end().await;
        let end = &end.last().unwrap().data;
        assert_eq!((&end["status"], &end["endReason"]), (&json!("cancelled"), &json!("stopped")), "{end}");
    }
    // Nothing works now: a stream without a cursor begins with what comes.
    let mut next = device.stream(&session, None).await;
    let resume = json!({ "provider": "test", "model": "scripted-1" });
    let resumed = device.post(&format!("/api/sessions/{session}/resume"), &resume).await.json();
    assert_eq!((&resumed["sessionId"], &resumed["resumed"]), (&json!(session), &json!(true)), "{resumed}");
    assert_eq!(next.next().await.unwrap().data["kind"], "conversation_updated");
    let (_, mut stream) = chat(&device, &session, "long").await;
    stream.until_end().await;
    next.until_end().await;
    let got = device.get(&format!("/api/sessions/{session}")).await.json();
    assert_eq!(got["conversation"]["model"], "test/scripted-1");
}

#[tokio::test]
async fn what_cannot_be_done_is_answered_in_one_shape() {
    let world = World::start().await;
    let device = device(&world).await;
    let session = session(&world, &device).await;
    let other = "0190a1b2-0000-7000-8000-00000000000a";
    let at = |rest: &str| format!("/api/sessions/{session}/{rest}");
    let unknown = |rest: &str| format!("/api/sessions/{other}{rest}");
    let table = [
        (at("chat"), r#"{"message""#, 400, "parse"),
        (at("chat"), "\u{1}", 400, "parse"),
        (at("chat"), r#"{}"#, 400, "invalid_params"),
        (at("chat"), r#"{"message":""}"#, 400, "invalid_params"),
        (at("chat"), r#"{"message":"x","mode":"odd"}"#, 400, "invalid_params"),
        (at("chat"), r#"{"message":"x","approvals":"allow"}"#, 403, "forbidden"),
        (at("chat"), r#"{"message":"x","environment":{"A":"b"}}"#, 403, "forbidden"),
        (unknown("/chat"), r#"{"message":"x"}"#, 404, "not_found"),
        (unknown("/stop"), "{}", 404, "not_found"),
        (unknown("/resume"), "{}", 404, "not_found"),
        (at("stop"), "{}", 409, "illegal_state"),
        (at(&format!("approvals/{other}")), r#"{"approved":true}"#, 404, "not_found"),
        (at("approvals/x"), r#"{"approved":true}"#, 404, "not_found"),
        (at(&format!("approvals/{other}")), r#"{}"#, 400, "invalid_params"),
        (at(&format!("answers/{other}")), r#"{"response":"x"}"#, 404, "not_found"),
        (at(&format!("answers/{other}")), r#"{}"#, 400, "invalid_params"),
        ("/api/sessions".to_owned(), r#"{"provider":"test"}"#, 400, "invalid_params"),
        ("/api/sessions".to_owned(), r#"{"provider":"none","model":"m"}"#, 422, "model_unavailable"),
        ("/api/sessions".to_owned(), r#"{"workspacePath":"relative"}"#, 400, "invalid_params"),
        ("/api/nothing".to_owned(), "{}", 404, "not_found"),
        ("/health".to_owned(), "{}", 405, "method_not_found"),
    ];
    for (path, body, status, kind) in table {
        let answer = device.post_text(&path, body).await;
        let said = answer.json();
        assert_eq!((answer.status, &said["data"]["kind"]), (status, &json!(kind)), "{path} {body}: {said}");
        assert!(said["error"].as_str().is_some_and(|words| !words.is_empty()), "{said}");
        assert!(said["code"].is_i64() && said["data"]["retryable"].is_boolean(), "{said}");
    }
    let wrong = device.post_text("/health", "").await;
    assert_eq!(wrong.header("allow"), Some("get"), "{wrong:?}");
}
