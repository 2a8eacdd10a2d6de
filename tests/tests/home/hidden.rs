//! What belongs to no conversation is kept in a hidden one, which no client meets.

use abide_client::protocol::{inbox::Decision, task::Status};
use abide_tests::{ledger, model_server::Turn, wait, world::World};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"hello","params":{"protocol":{"min":1,"max":1}}}"#;

/// A script's connection.
struct Script(BufReader<UnixStream>);

impl Script {
    async fn connect(world: &World) -> Self {
        let mut script = Self(BufReader::new(UnixStream::connect(world.daemon.socket()).await.unwrap()));
        script.send(HELLO).await;
        script.read().await;
        script
    }

    async fn send(&mut self, line: &str) {
        self.0.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let mut line = String::new();
        wait::within("a line", self.0.read_line(&mut line)).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.send(&request.to_string()).await;
        self.read().await
    }
}

#[tokio::test]
async fn the_hidden_conversation_is_refused_by_every_method_and_sent_to_no_subscriber() {
    let world = World::start().await;
    let task = world.run_asking("remember", [Turn::shell("true"), Turn::done("Done.")]).await;
    world.wait_status(task, Status::WaitingApproval).await;
    assert!(world.decide(task, Decision::AllowAlways).await);
    world.wait_end(task).await;
    let records = ledger::read(&world.daemon.home());
    let rule = records.iter().find(|record| record.kind == "rule_added").unwrap();
    let hidden = rule.conversation.to_string();
    assert_ne!(rule.conversation, task.conversation_id);

    let mut script = Script::connect(&world).await;
    let calls = [
        ("startTask", json!({ "conversationId": hidden, "message": "hello" })),
        ("getConversation", json!({ "conversationId": hidden })),
        ("listMessages", json!({ "conversationId": hidden })),
        ("updateConversation", json!({ "conversationId": hidden, "title": "mine" })),
        ("archiveConversation", json!({ "conversationId": hidden, "archived": true })),
        ("deleteConversation", json!({ "conversationId": hidden })),
        ("markRead", json!({ "conversationId": hidden, "seq": 1 })),
        ("search", json!({ "query": "rule", "conversationId": hidden })),
        ("subscribe", json!({ "scope": { "conversation": hidden } })),
    ];
    for (method, params) in calls {
        let reply = script.call(method, params).await;
        assert_eq!(reply["error"]["data"]["kind"], json!("not_found"), "{method}: {reply}");
        let words = reply["error"]["message"].as_str().unwrap();
        assert!(words.starts_with("there is no conversation"), "{method}: {words}");
    }
    let listed = script.call("listConversations", json!({})).await;
    assert_eq!(listed["result"]["conversations"].as_array().unwrap().len(), 1, "{listed}");

    // From the beginning: every other record comes, and nothing of the hidden conversation.
    let subscribed = script.call("subscribe", json!({ "scope": "all", "since": 0 })).await;
    assert!(subscribed["result"]["snapshot"]["seq"].as_u64().unwrap() > rule.seq.0, "{subscribed}");
    for expected in records.iter().filter(|record| record.kind != "rule_added") {
        let sent = script.read().await;
        assert_eq!(sent["params"]["seq"], json!(expected.seq), "{sent}");
        assert!(!sent.to_string().contains(&hidden), "{sent}");
    }
}
