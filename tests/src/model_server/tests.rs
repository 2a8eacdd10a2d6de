//! The server against a client that is a plain socket.

use super::{Fault, Gate, ModelServer, Outcome, Turn};
use crate::wait;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

const USER: &str = "[k:talk] hello";

/// Sends a request; returns the socket to read the response from.
async fn send(server: &ModelServer, path: &str, body: &str) -> TcpStream {
    let url = server.anthropic_url();
    let mut socket = TcpStream::connect(url.trim_start_matches("http://")).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nanthropic-version: 2023-06-01\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    socket
}

/// The status and body of a response.
async fn ask(server: &ModelServer, path: &str, body: &Value) -> (u16, String) {
    ask_raw(server, path, &body.to_string()).await
}

async fn ask_raw(server: &ModelServer, path: &str, body: &str) -> (u16, String) {
    let mut socket = send(server, path, body).await;
    let mut bytes = Vec::new();
    wait::within("the whole answer", socket.read_to_end(&mut bytes)).await.unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    (status, text)
}

async fn openai(server: &ModelServer, messages: &[Value]) -> (u16, String) {
    ask(server, "/v1/chat/completions", &chat(messages)).await
}

fn chat(messages: &[Value]) -> Value {
    let shell = json!({ "type": "function", "function": { "name": "shell" } });
    json!({ "model": "m", "stream": true, "tools": [shell], "messages": messages })
}

async fn anthropic(server: &ModelServer, messages: &[Value]) -> (u16, String) {
    let body = json!({ "model": "m", "stream": true, "max_tokens": 9, "messages": messages });
    ask(server, "/v1/messages", &body).await
}

async fn responses(server: &ModelServer, input: &str) -> (u16, String) {
    let body = format!(
        r#"{{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"prompt_cache_key":"k","tools":[{{"type":"function","name":"shell","parameters":{{}},"strict":false}}],"input":[{input}]}}"#
    );
    ask_raw(server, "/v1/responses", &body).await
}

fn input(text: &str) -> String {
    format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#)
}

/// The items of a streamed reply, byte for byte.
fn items_of(stream: &str) -> Vec<&str> {
    let ends =
        stream.lines().filter_map(|line| line.strip_prefix(r#"data: {"type":"response.output_item.done","#));
    ends.map(|end| end.split_once(r#""item":"#).unwrap().1.strip_suffix('}').unwrap()).collect()
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

#[tokio::test]
async fn the_next_turn_answers_a_request_with_one_reply_more() {
    let server = ModelServer::start().await;
    server.script("talk", [Turn::say("one"), Turn::say("two")]);
    let (status, text) = openai(&server, &[user(USER)]).await;
    assert!(status == 200 && text.contains(r#"{"content":"one"}"#) && text.contains("[DONE]"), "{text}");
    let reply = json!({ "role": "assistant", "content": "one" });
    let (_, text) = openai(&server, &[user(USER), reply, user("and?")]).await;
    assert!(text.contains(r#"{"content":"two"}"#), "{text}");
    let turns: Vec<_> = server.requests("talk").iter().map(|r| (r.turn, r.attempt, r.outcome)).collect();
    assert_eq!(turns, [(0, 0, Outcome::Answered), (1, 0, Outcome::Answered)]);
}

#[tokio::test]
async fn what_a_strict_provider_refuses_is_a_400_and_a_violation() {
    let server = ModelServer::start().await;
    server.script("talk", [Turn::shell("true"), Turn::say("two")]);
    let (_, text) = openai(&server, &[user(USER)]).await;
    let at = text.find(r#""extra_content":"#).unwrap() + r#""extra_content":"#.len();
    let extra: &str = &text[at..at + text[at..].find("]}").unwrap() + 2];
    let call = |extra: &str| -> Value {
        let call = format!(
            r#"{{"id":"call_0x0_0","type":"function","function":{{"name":"shell","arguments":"{{\"command\":\"true\"}}"}},"extra_content":{extra}}}"#
        );
        serde_json::from_str(&call).unwrap()
    };
    let reply = |extra: &str| json!({ "role": "assistant", "content": null, "tool_calls": [call(extra)] });
    let result = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "ok" });
    for (what, messages) in [
        ("no result", vec![user(USER), reply(extra)]),
        ("another's result", vec![user(USER), reply(extra), result("call_9")]),
        ("an altered opaque block", vec![user(USER), reply(r#"{"google":{}}"#), result("call_0x0_0")]),
        ("a changed prefix", vec![user("[k:talk] hello!"), reply(extra), result("call_0x0_0")]),
    ] {
        let (status, text) = openai(&server, &messages).await;
        assert_eq!(status, 400, "{what}: {text}");
        assert_eq!(server.take_violations().len(), 1, "{what}");
    }
}

/// The phase decides which reply it wants; the part of the request that the provider caches stays.
#[tokio::test]
async fn the_shape_of_the_reply_may_differ_from_request_to_request() {
    let server = ModelServer::start().await;
    server.script("talk", [Turn::say("one"), Turn::say("two")]);
    let body = json!({ "model": "m", "stream": true, "tools": [], "messages": [user(USER)] });
    let mut shaped = body.clone();
    shaped["tool_choice"] = "none".into();
    shaped["response_format"] =
        json!({ "type": "json_schema", "json_schema": { "name": "plan", "schema": {} } });
    for body in [&body, &shaped, &body] {
        let (status, text) = ask(&server, "/v1/chat/completions", body).await;
        assert_eq!(status, 200, "{text}");
    }
    shaped.as_object_mut().unwrap().remove("tools");
    let (status, _) = ask(&server, "/v1/chat/completions", &shaped).await;
    assert_eq!((status, server.take_violations().len()), (400, 1), "there is nothing to choose from");
}

#[tokio::test]
async fn thinking_comes_back_with_its_signature() {
    let server = ModelServer::start().await;
    server.script("talk", [Turn::new().reasoning("hm").redacted().text("one"), Turn::say("two")]);
    let block = json!({ "role": "user", "content": [{ "type": "text", "text": USER }] });
    let (_, text) = anthropic(&server, std::slice::from_ref(&block)).await;
    assert!(text.contains(r#""signature":"sig/0x0/0+==""#) && text.contains("event: message_stop"), "{text}");
    let reply = |signature: &str| {
        json!({ "role": "assistant", "content": [
            { "type": "thinking", "thinking": "hm", "signature": signature },
            { "type": "redacted_thinking", "data": "redacted/0x0/1+==" },
            { "type": "text", "text": "one" },
        ] })
    };
    let (status, _) = anthropic(&server, &[block, reply("sig/0x0/0"), user("and?")]).await;
    assert_eq!((status, server.take_violations().len()), (400, 1));
    // The position of the cache marks does not matter.
    let marked = json!({ "type": "text", "text": USER, "cache_control": { "type": "ephemeral" } });
    let marked = json!({ "role": "user", "content": [marked] });
    let (status, text) = anthropic(&server, &[marked, reply("sig/0x0/0+=="), user("and?")]).await;
    assert_eq!(status, 200, "{text}");
}

#[tokio::test]
async fn items_come_back_as_they_were_given() {
    let server = ModelServer::start().await;
    let thinks =
        Turn::new().reasoning("hm").redacted().text("one").call("shell", json!({ "command": "true" }));
    server.script("talk", [thinks, Turn::say("two")]);
    let (status, text) = responses(&server, &input(USER)).await;
    assert!(status == 200 && text.contains("event: response.completed"), "{text}");
    let items = items_of(&text);
    let [thought, redacted, said, call] = items[..] else { panic!("{items:?}") };
    let output = |id: &str| format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"ok"}}"#);
    let (mine, other) = (output("call_0x0_3"), output("call_9"));
    let altered = thought.replace("sig/", "sig");
    let spaced = said.replace(", ", ",");
    let unread = thought.replace(r#""encrypted_content":"sig/0x0/0+==","#, "");
    for (what, input) in [
        ("no output", vec![&input(USER)[..], thought, redacted, said, call]),
        ("two outputs", vec![&input(USER), thought, redacted, said, call, &mine, &mine]),
        ("an unknown call", vec![&input(USER), thought, redacted, said, call, &mine, &other]),
        ("an altered item", vec![&input(USER), &altered, redacted, said, call, &mine]),
        ("other bytes", vec![&input(USER), thought, redacted, &spaced, call, &mine]),
        ("reasoning that is left out", vec![&input(USER), redacted, said, call, &mine]),
        ("reasoning without what follows", vec![&input(USER), thought, redacted, &input("and?")]),
        ("reasoning that cannot be read", vec![&input(USER), &unread, redacted, said, call, &mine]),
        ("an item twice", vec![&input(USER), thought, thought, said, call, &mine]),
        ("a changed prefix", vec![&input("[k:talk] hello!"), thought, redacted, said, call, &mine]),
    ] {
        let (status, text) = responses(&server, &input.join(",")).await;
        assert_eq!(status, 400, "{what}: {text}");
        assert_eq!(server.take_violations().len(), 1, "{what}");
    }
    let whole = [&input(USER), thought, redacted, said, call, &mine].join(",");
    let (status, text) = responses(&server, &whole).await;
    assert_eq!(status, 200, "{text}");
}

#[tokio::test]
async fn a_request_to_the_responses_api_has_its_fields() {
    let server = ModelServer::start().await;
    server.script("talk", [Turn::say("one")]);
    let body = json!({ "model": "m", "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "k", "input": [serde_json::from_str::<Value>(&input(USER)).unwrap()],
        "tools": [{ "type": "function", "name": "t", "parameters": {}, "strict": false }] });
    let (status, text) = ask(&server, "/v1/responses", &body).await;
    assert_eq!(status, 200, "{text}");
    for (field, wrong) in [
        ("store", json!(true)),
        ("stream", json!(false)),
        ("include", json!([])),
        ("prompt_cache_key", Value::Null),
        ("tools", json!([{ "type": "function", "name": "t", "parameters": {}, "strict": true }])),
        (
            "tools",
            json!([{ "type": "function", "function": { "name": "t", "parameters": {} }, "strict": false }]),
        ),
        ("input", json!([{ "role": "user", "content": USER }])),
    ] {
        let mut body = body.clone();
        body[field] = wrong;
        let (status, _) = ask(&server, "/v1/responses", &body).await;
        assert_eq!((status, server.take_violations().len()), (400, 1), "{field}");
    }
}

#[tokio::test]
async fn faults_come_first_and_each_once() {
    let server = ModelServer::start().await;
    let turn = Turn::say("whole")
        .but_first(Fault::Status { code: 429, retry_after: Some(7) })
        .but_first(Fault::Cut { after: 60 })
        .but_first(Fault::Reported { after_events: 1 });
    server.script("talk", [turn]);
    let (status, text) = openai(&server, &[user(USER)]).await;
    assert!(status == 429 && text.contains("retry-after: 7"), "{text}");
    let (status, text) = openai(&server, &[user(USER)]).await;
    assert!(status == 200 && text.contains("chatcmpl") && !text.contains("whole"), "{text}");
    let (_, text) = openai(&server, &[user(USER)]).await;
    assert!(text.contains("overloaded"), "{text}");
    let (_, text) = openai(&server, &[user(USER)]).await;
    assert!(text.contains("whole") && text.contains("[DONE]"), "{text}");
}

#[tokio::test]
async fn a_gate_holds_the_stream_and_a_client_that_leaves_is_noticed() {
    let server = ModelServer::start().await;
    let gate = Gate::new("the middle");
    server.script("talk", [Turn::say("before").gate(&gate).text("after")]);
    let mut socket = send(&server, "/v1/chat/completions", &chat(&[user(USER)]).to_string()).await;
    gate.reached().await;
    let mut bytes = vec![0; 64 * 1024];
    let mut seen = String::new();
    while !seen.contains("before") {
        let read = wait::within("the first half", socket.read(&mut bytes)).await.unwrap();
        seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
    assert!(!seen.contains("after"), "{seen}");
    drop(socket);
    server.wait_for_requests("the client to be gone", "talk", |r| r[0].outcome == Outcome::Abandoned).await;
    gate.open();
    let (_, text) = openai(&server, &[user(USER)]).await;
    assert!(text.contains("after"), "{text}");
}

#[tokio::test]
#[should_panic(expected = "a strict provider would have refused")]
async fn violations_that_nobody_took_fail_their_test() {
    let server = ModelServer::start().await;
    let (status, _) = openai(&server, &[]).await;
    assert_eq!(status, 400);
}
