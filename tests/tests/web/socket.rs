//! `/ws`, with a WebSocket library of another project: JSON-RPC, two dialects, and what is cut in words.

use super::open::{chat, device, message, session};
use abide_tests::{
    http::HttpClient,
    model_server::{Gate, Turn},
    peer,
    skip::skip,
    wait,
    world::World,
};
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
};

/// A client; its first line says what came of its request.
struct Peer {
    _child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Peer {
    /// Connects with the device's token in the header, or with these subprotocols alone; `None`: the library
    /// is not installed.
    fn connect(device: &HttpClient, query: &str, protocols: &[&str]) -> Option<Self> {
        let bearer = device.token.as_ref().map_or("-".to_owned(), |token| format!("Bearer {token}"));
        let mut command = peer::client("web_socket")?;
        let url = format!("ws://{}/ws{query}", device.authority);
        command.arg(url).arg(bearer).args(protocols).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python can be started");
        let stdin = child.stdin.take().expect("a pipe");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Some(Self { _child: child, stdin, lines })
    }

    async fn say(&mut self, line: &str) {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await.expect("the client reads");
    }

    async fn send(&mut self, frame: &Value) {
        self.say(&frame.to_string()).await;
    }

    async fn next(&mut self) -> Value {
        let line =
            wait::within("a frame", self.lines.next_line()).await.unwrap().expect("the client goes on");
        serde_json::from_str(&line).expect("a frame is JSON")
    }

    /// Reads up to a frame that satisfies `is_it`; returns all of them.
    async fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let frame = self.next().await;
            assert!(frame["closed"].is_null(), "it is closed after {seen:#?}: {frame}");
            let found = is_it(&frame);
            seen.push(frame);
            if found {
                return seen;
            }
        }
    }

    /// How it was closed: the code, and why.
    async fn closed(&mut self) -> (u64, String) {
        loop {
            let frame = self.next().await;
            if let Some(code) = frame["closed"].as_u64() {
                return (code, frame["reason"].as_str().unwrap_or_default().to_owned());
            }
        }
    }
}

fn is(kind: &str) -> impl Fn(&Value) -> bool {
    move |frame| frame["type"] == kind
}

fn none(test: &str) {
    skip(test, "websockets is not installed; the test command installs it");
}

fn anonymous(device: &HttpClient) -> HttpClient {
    HttpClient { token: None, ..device.clone() }
}

#[tokio::test]
async fn json_rpc_has_the_methods_of_the_token_and_none_of_what_stays_here() {
    let world = World::start().await;
    let device = device(&world).await;
    let token = format!("bearer.{}", device.token.as_deref().unwrap());
    let Some(mut peer) = Peer::connect(&anonymous(&device), "", &["abide-rpc", &token]) else {
        return none("json_rpc_has_the_methods_of_the_token_and_none_of_what_stays_here");
    };
    assert_eq!(peer.next().await, json!({ "open": "abide-rpc" }));
    let session = session(&world, &device).await;
    world.model.script("rpc", [Turn::say("Look.").redacted().call("list", json!({})), Turn::done("Done.")]);
    let call = |id: u32, method: &str, params: Value| {
        let mut call = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        call["params"] = params;
        call
    };
    peer.send(&call(1, "subscribe", json!({ "scope": { "conversation": session } }))).await;
    assert_eq!(peer.next().await["id"], 1);
    let start = json!({ "conversationId": session, "message": message("rpc")["message"], "mode": "agent" });
    peer.send(&call(2, "startTask", start)).await;
    let is_end = |frame: &Value| !frame["params"]["record"]["body"]["task_ended"].is_null();
    let seen = peer.until(is_end).await;
    assert!(seen.iter().any(|frame| frame["id"] == 2 && frame["result"]["taskId"].is_string()), "{seen:#?}");
    assert!(seen.iter().any(|frame| frame["method"] == "taskDelta"));
    let head = seen.iter().find_map(|frame| frame["params"]["record"]["body"].get("task_started")).unwrap();
    assert_eq!((&head["environment"], &head["systemPrompt"]), (&json!({}), &json!("")), "{head}");
    peer.send(&call(3, "shutdown", json!({}))).await;
    let refused = peer.until(|frame| frame["id"] == 3).await.pop().unwrap();
    assert_eq!(refused["error"]["data"]["kind"], "forbidden", "{refused}");
    peer.say("no JSON").await;
    assert_eq!(peer.until(|frame| !frame["error"].is_null()).await.pop().unwrap()["error"]["code"], -32700);
}

#[tokio::test]
async fn clients_of_reason_act_and_observe_have_their_dialect() {
    let world = World::start().await;
    let device = device(&world).await;
    let Some(mut peer) = Peer::connect(&device, "", &[]) else {
        return none("clients_of_reason_act_and_observe_have_their_dialect");
    };
    assert_eq!(peer.next().await, json!({ "open": null }));
    world.model.script(
        "dialect",
        [
            Turn::say("I look.").call("list", json!({})).call("read", json!({ "path": "none" })),
            Turn::ask("Which colour?"),
            Turn::say("Blue.").call("task_complete", json!({ "summary": "It is blue." })),
        ],
    );
    let content = "[k:dialect] Do it.";
    peer.send(&json!({ "type": "chat", "content": content, "selected_tools": ["list", "read"] })).await;
    let seen = peer.until(|frame| frame["update_type"] == "agent_request_input").await;
    let kinds: Vec<&str> =
        seen.iter().map(|f| f["update_type"].as_str().or(f["type"].as_str()).unwrap()).collect();
    assert_eq!(kinds[..2], ["agent_start", "agent_turn_start"], "{seen:#?}");
    let tokens: Vec<&Value> = seen.iter().filter(|frame| is("token_stream")(frame)).collect();
    let text: String = tokens.iter().map(|token| token["token"].as_str().unwrap()).collect();
    assert_eq!(text, "I look.");
    assert_eq!((&tokens[0]["is_first"], &tokens.last().unwrap()["is_last"]), (&json!(true), &json!(true)));
    let one =
        |kind: &str| seen.iter().find(|frame| is(kind)(frame)).unwrap_or_else(|| panic!("{kind}: {seen:#?}"));
    let (begun, done, failed) = (one("tool_start"), one("tool_complete"), one("tool_error"));
    assert_eq!((&begun["tool_name"], &begun["server_name"]), (&json!("list"), &json!("abide")));
    assert_eq!((&done["tool_call_id"], &done["success"]), (&begun["tool_call_id"], &json!(true)));
    assert_eq!((&failed["tool_name"], &failed["success"]), (&json!("read"), &json!(false)));
    assert!(failed["error"].is_string() && begun["arguments"].is_null());
    peer.send(&json!({ "type": "ping" })).await;
    assert!(peer.until(is("error")).await.pop().unwrap()["message"].as_str().unwrap().contains("dialect"));
    peer.send(&json!({ "type": "agent_user_input", "content": "Blue." })).await;
    let rest = peer.until(is("response_complete")).await;
    assert_eq!(rest.last().unwrap()["content"], "It is blue.");
    assert!(rest.iter().any(|frame| frame["update_type"] == "agent_completion"), "{rest:#?}");

    let gate = Gate::new("nobody opens it");
    world.model.script("stopped", [Turn::new().gate(&gate).text("Never.")]);
    let mut peer = Peer::connect(&device, "", &[]).unwrap();
    peer.next().await;
    peer.send(&json!({ "type": "chat", "content": "[k:stopped] Go on.", "agent_mode": true })).await;
    peer.until(|frame| frame["update_type"] == "agent_turn_start").await;
    peer.send(&json!({ "type": "agent_control", "action": "stop" })).await;
    let stopped = peer.until(is("response_complete")).await;
    assert!(stopped.iter().any(|frame| frame["update_type"] == "agent_stopped"), "{stopped:#?}");
}

#[tokio::test]
async fn phones_are_shown_one_state() {
    let world = World::start().await;
    let device = device(&world).await;
    let token = format!("bearer.{}", device.token.as_deref().unwrap());
    let Some(mut peer) = Peer::connect(&anonymous(&device), "", &["abide", &token]) else {
        return none("phones_are_shown_one_state");
    };
    assert_eq!(peer.next().await, json!({ "open": "abide" }));
    // It says nothing for a while.
    assert_eq!(peer.next().await["status"], "Idle");
    world.model.script(
        "phone",
        [Turn::shell("echo seen > seen.txt"), Turn::ask("Which colour?"), Turn::done("It is blue.")],
    );
    let start = json!({ "action": "start", "task": "[k:phone] Do it.", "max_iterations": 9 });
    peer.send(&json!({ "type": "command", "payload": start })).await;
    let paused = |what: &'static str| {
        move |frame: &Value| frame["status"] == "Paused" && !frame["data"][what].is_null()
    };
    let asked = peer.until(paused("awaiting_permission")).await.pop().unwrap();
    let permission = &asked["data"]["awaiting_permission"];
    assert_eq!((&permission["tool_name"], &asked["data"]["question"]), (&json!("shell"), &Value::Null));
    assert!(permission["command"].as_str().unwrap().contains("seen.txt"), "{asked}");
    peer.send(&json!({ "type": "permission_response", "request_id": permission["id"], "approved": true }))
        .await;
    let asked = peer.until(paused("question")).await.pop().unwrap();
    assert_eq!(asked["data"]["question"], "Which colour?");
    peer.send(&json!({ "type": "ping" })).await;
    peer.until(is("pong")).await;
    peer.send(&json!({ "type": "answer", "response": "blue" })).await;
    let end = peer.until(|frame| frame["status"] == "Stopped").await.pop().unwrap();
    assert_eq!(end["data"]["reason"], "Completed", "{end}");
    assert!(world.daemon.workspace().exists() && end["data"]["task_id"].is_string());

    // A listener of the conversation is shown how it stands.
    let bound = format!("?conversation={}", end["data"]["agent_id"].as_str().unwrap());
    let mut listener = Peer::connect(&device, &bound, &[]).unwrap();
    listener.next().await;
    assert_eq!(listener.next().await, end);
}

#[tokio::test]
async fn what_is_too_much_is_cut_in_words() {
    let world = World::start().await;
    let device = device(&world).await;
    let cuts = [("!3000000", 1009, "over the limit"), ("=10", 1003, "text"), ("?1000", 1008, "pings")];
    for (much, code, words) in cuts {
        let Some(mut peer) = Peer::connect(&device, "?dialect=state", &[]) else {
            return none("what_is_too_much_is_cut_in_words");
        };
        peer.next().await;
        peer.say(much).await;
        let (closed, why) = peer.closed().await;
        assert!(closed == code && why.contains(words), "{much}: {closed} {why}");
    }
    let refused = async |device: &HttpClient, query: &str| {
        Peer::connect(device, query, &["abide-rpc"]).unwrap().next().await["refused"].as_u64().unwrap()
    };
    assert_eq!(refused(&anonymous(&device), "").await, 401);
    assert_eq!(refused(&device, "?dialect=none").await, 400);
    assert_eq!(refused(&device, "?conversation=none").await, 404);
    assert_eq!(device.get("/ws").await.status, 400, "it is no WebSocket client");

    // A token that may only read sees, and does nothing.
    let reader = world.daemon.cli().ok(&["token", "add", "screen", "--read"]).await;
    let reader = HttpClient { token: Some(reader.trim().to_owned()), ..device.clone() };
    let session = session(&world, &device).await;
    let gate = Gate::new("nobody opens it");
    world.model.script("open", [Turn::say("So far.").gate(&gate)]);
    let _stream = chat(&device, &session, "open").await;
    let mut peer = Peer::connect(&reader, &format!("?conversation={session}"), &[]).unwrap();
    peer.until(|frame| frame["status"] == "Running").await;
    peer.send(&json!({ "type": "command", "payload": { "action": "stop" } })).await;
    let error = peer.until(is("error")).await.pop().unwrap();
    assert!(error["message"].as_str().unwrap().contains("not open to this caller"), "{error}");
    world.daemon.cli().ok(&["token", "revoke", "screen"]).await;
    assert_eq!(peer.closed().await, (1008, "the token was revoked".to_owned()));
    let mut peer = Peer::connect(&device, "", &["abide-rpc"]).unwrap();
    peer.next().await;
    world.daemon.cli().ok(&["serve", "--stop"]).await;
    assert_eq!(peer.closed().await.0, 1001);
}
