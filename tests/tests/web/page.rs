//! What the page needs: itself, the inbox, one stream for everything, comments.

use super::open::{device, door, message, session};
use abide_client::protocol::record::{InterventionKind, RecordBody};
use abide_tests::{
    http::{HttpClient, SentEvent},
    ledger,
    model_server::{Gate, Turn},
    world::World,
};
use serde_json::json;

#[tokio::test]
async fn a_browser_gets_the_page_without_a_token_and_under_a_strict_policy() {
    let world = World::start().await;
    let device = HttpClient::at(&door(&world).await, None);
    let get = async |path: &str, accept: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nAccept: {accept}\r\n", device.authority);
        device.raw(&format!("{head}Connection: close\r\n\r\n")).await
    };
    let table = [
        ("/", "text/html,*/*;q=0.8", "text/html"),
        ("/page.css", "text/css,*/*;q=0.1", "text/css"),
        ("/page.js", "*/*", "text/javascript"),
    ];
    for (path, accept, kind) in table {
        let file = get(path, accept).await;
        assert_eq!(file.status, 200, "{path}: {file:?}");
        assert!(file.header("content-type").unwrap().starts_with(kind), "{path}: {}", file.head);
        let policy = file.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"), "{policy}");
        assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{policy}");
    }
    assert_eq!(get("/", "*/*").await.json(), json!({ "name": "abide", "status": "ok" }));

    // The code is a picture of the last line.
    let printed = world.daemon.cli().ok(&["token", "add", "phone", "--page", "https://a.ts.net/"]).await;
    let (code, url) = printed.trim_end().rsplit_once('\n').unwrap();
    let token = url.strip_prefix("https://a.ts.net/#token=").map(str::to_owned);
    assert!(code.contains('█') && token.is_some(), "{printed}");
    assert_eq!(HttpClient { token, ..device }.get("/api/inbox").await.json(), json!({ "items": [] }));
}

#[tokio::test]
async fn one_stream_tells_the_inbox_the_list_and_a_session() {
    let world = World::start().await;
    let device = device(&world).await;
    let session = session(&world, &device).await;
    let asks = Turn::say("I ask.").call("ask_user", json!({ "question": "Which?" }));
    world.model.script("seen", [asks, Turn::done("Done.")]);
    let mut overview = device.events("/api/stream", None).await;
    let mut both = device.events(&format!("/api/stream?session={session}"), None).await;
    let started = device.post(&format!("/api/sessions/{session}/chat"), &message("seen")).await;
    assert_eq!(started.status, 202, "{started:?}");

    let is_added = |event: &SentEvent| event.data["added"][0]["pending"]["question"]["text"] == "Which?";
    let told = overview.until(is_added).await;
    let status = |event: &&SentEvent| event.data["conversation"]["task"]["status"].is_string();
    let updated = told.iter().find(status).expect("the conversation's state");
    assert_eq!((&*updated.name, &updated.data["conversationId"]), ("conversation_update", &json!(session)));
    assert!(told.iter().all(|event| event.name.ends_with("_update") && event.id.is_empty()), "{told:#?}");

    let (mut has_item, mut asked) = (false, None);
    while !has_item || asked.is_none() {
        let event = both.next().await.unwrap();
        has_item |= event.name == "inbox_update" && is_added(&event);
        asked = asked.or_else(|| (event.name == "question").then_some(event));
    }
    // The id is the session's: a stream goes on after it.
    let asked = asked.unwrap();
    let item = &device.get("/api/inbox").await.json()["items"][0];
    assert_eq!(item["pending"]["question"]["id"], asked.data["questionId"], "{item}");
    let answer = format!("/api/sessions/{session}/answers/{}", asked.data["questionId"].as_str().unwrap());
    assert_eq!(device.post(&answer, &json!({ "response": "This." })).await.status, 200);
    let path = format!("/api/stream?session={session}");
    let mut again = device.events(&path, Some(&asked.id)).await;
    // The daemon may have given the session its title in between.
    let since = again.until(|event| event.name == "question_answered").await;
    assert!(since.iter().all(|event| event.name != "question"), "{since:#?}");
    overview.until(|event| event.data["removed"][0]["question"] == asked.data["questionId"]).await;
    again.until_end().await;
    let listed = device.get(&format!("/api/sessions/{session}/messages?limit=3")).await.json();
    let texts: Vec<_> = listed["messages"].as_array().unwrap().iter().map(|m| m["text"].clone()).collect();
    assert_eq!(texts, ["Which?", "This.", "Done."]);
    assert_eq!(device.get("/api/stream?session=none").await.status, 404);
}

#[tokio::test]
async fn a_comment_reaches_the_agent_and_is_never_a_command() {
    let world = World::start().await;
    let device = device(&world).await;
    let session = session(&world, &device).await;
    let path = format!("/api/sessions/{session}/comment");
    assert_eq!(device.post(&path, &json!({ "comment": "x" })).await.status, 409);
    let gate = Gate::new("while the model speaks");
    let first = Turn::new().gate(&gate).call("list", json!({}));
    world.model.script("told", [first, Turn::done("Done.")]);
    let mut stream = device.stream(&session, None).await;
    device.post(&format!("/api/sessions/{session}/chat"), &message("told")).await;
    gate.reached().await;
    for words in ["Mind the tests.", "delete"] {
        let said = device.post(&path, &json!({ "comment": words })).await;
        assert_eq!((said.status, said.json()["taskId"].is_string()), (200, true), "{said:?}");
    }
    gate.open();
    assert_eq!(stream.until_end().await.last().unwrap().data["status"], "completed");
    let lines = ledger::read(&world.daemon.home());
    let comments = lines.iter().filter_map(|line| match line.record() {
        RecordBody::Intervened(said) if said.kind == InterventionKind::Comment => Some(said.comment),
        _ => None,
    });
    assert_eq!(comments.collect::<Vec<_>>(), ["Mind the tests.", "“delete”"]);
    assert!(world.model.last_request("told").unwrap().text().contains("Mind the tests."));
}
