//! Clients that are older or newer than the daemon: they work, or get an error that programs know.

use abide_tests::{wait, world::World};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
};

/// Sends these messages, one a line; returns as many replies, or fewer if the connection ends.
async fn talk(world: &World, messages: &[Value]) -> Vec<Value> {
    let mut socket = UnixStream::connect(world.daemon.socket()).await.unwrap();
    for message in messages {
        drop(socket.write_all(format!("{message}\n").as_bytes()).await);
    }
    drop(socket.shutdown().await);
    let mut lines = BufReader::new(socket).lines();
    wait::within("all answers", async {
        let mut answers = Vec::new();
        while let Ok(Some(line)) = lines.next_line().await {
            answers.push(serde_json::from_str(&line).expect("a line of JSON"));
        }
        answers
    })
    .await
}

fn hello(min: u32, max: u32, codecs: &[&str]) -> Value {
    let params = json!({ "protocol": { "min": min, "max": max }, "codecs": codecs, "surprise": [1, { "of": "tomorrow" }] });
    json!({ "jsonrpc": "2.0", "id": "h", "method": "hello", "params": params, "also": "new" })
}

#[tokio::test]
async fn disjoint_protocol_ranges_are_refused_and_others_agree() {
    let world = World::start().await;
    for (min, max) in [(2, 9), (0, 0), (7, 3)] {
        let answers =
            talk(&world, &[hello(min, max, &[]), json!({ "jsonrpc": "2.0", "id": 1, "method": "status" })])
                .await;
        assert_eq!(answers.len(), 1, "{min}..{max}: nothing follows a refusal: {answers:?}");
        assert_eq!(answers[0]["error"]["data"]["kind"], json!("unsupported"), "{answers:?}");
        assert_eq!(answers[0]["id"], json!("h"));
    }
    for (min, max) in [(0, 1), (1, 1), (1, 99), (0, u32::MAX)] {
        let answers = talk(&world, &[hello(min, max, &[])]).await;
        assert_eq!(
            (&answers[0]["result"]["protocol"], &answers[0]["result"]["codec"]),
            (&json!(1), &json!("json"))
        );
    }
}

#[tokio::test]
async fn another_schema_falls_back_to_json() {
    let world = World::start().await;
    for codecs in
        [&["bincode-999"][..], &["bincode-0", "msgpack", ""], &["BINCODE-2"], &["bincode-2", "json"]]
    {
        let status = json!({ "jsonrpc": "2.0", "id": 1, "method": "status" });
        let answers = talk(&world, &[hello(1, 1, codecs), status]).await;
        assert_eq!(answers[0]["result"]["codec"], json!("json"), "{codecs:?}");
        assert!(answers[1]["result"]["pid"].is_u64(), "{answers:?}");
    }
}

#[tokio::test]
async fn unknown_fields_are_ignored_and_unknown_methods_are_errors() {
    let world = World::start().await;
    let answers = talk(
        &world,
        &[
            hello(1, 1, &[]),
            json!({ "jsonrpc": "2.0", "id": 1, "method": "listTasks", "params": { "all": true, "byColour": "red" } }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "dream", "params": { "of": "sheep" } }),
            json!({ "jsonrpc": "2.0", "id": 3, "method": "startTask", "params": { "message": "x", "mode": "telepathy" } }),
            json!({ "jsonrpc": "2.0", "id": 4, "method": "subscribe", "params": { "scope": "everything-and-more" } }),
            json!({ "jsonrpc": "2.0", "method": "aNotification" }),
            json!({ "jsonrpc": "2.0", "id": 5, "method": "status" }),
        ],
    )
    .await;
    let by_id = |id: u64| {
        answers
            .iter()
            .find(|a| a["id"] == json!(id))
            .unwrap_or_else(|| panic!("no answer to {id}: {answers:?}"))
    };
    assert!(by_id(1)["result"]["tasks"].is_array());
    assert_eq!(by_id(2)["error"]["code"], json!(-32601));
    assert_eq!(by_id(3)["error"]["code"], json!(-32602));
    assert_eq!(by_id(4)["error"]["code"], json!(-32602));
    assert!(by_id(5)["result"]["pid"].is_u64(), "the connection stays");
    assert_eq!(answers.len(), 6, "a notification is not answered: {answers:?}");
}
