//! Clients that are older or newer than the daemon: they work, or get an error that programs know.

use abide_tests::{wait, world::World};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
};

/// Sends these messages, one a line; returns as many replies, or fewer if the connection ends.
async fn talk(world: &World, messages: &[String]) -> Vec<Value> {
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

fn hello(min: u32, max: u32, codecs: &[&str]) -> String {
    let params = json!({ "protocol": { "min": min, "max": max }, "codecs": codecs, "surprise": [1, { "of": "tomorrow" }] });
    json!({ "jsonrpc": "2.0", "id": "h", "method": "hello", "params": params, "also": "new" }).to_string()
}

#[tokio::test]
async fn an_unknown_range_is_refused_and_unknown_codecs_fields_methods_and_lines_cut_nobody_off() {
    let world = World::start().await;
    let status = |id: u64| json!({ "jsonrpc": "2.0", "id": id, "method": "status" }).to_string();
    let answers = talk(&world, &[hello(2, 9, &[]), status(1)]).await;
    assert_eq!(answers.len(), 1, "nothing follows a refusal: {answers:?}");
    assert_eq!(
        (&answers[0]["id"], &answers[0]["error"]["data"]["kind"]),
        (&json!("h"), &json!("unsupported"))
    );

    let odd = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "listTasks", "params": { "all": true, "byColour": "red" } }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "dream", "params": { "of": "sheep" } }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "startTask", "params": { "message": "x", "mode": "telepathy" } }),
        json!({ "jsonrpc": "2.0", "id": 4, "method": "subscribe", "params": { "scope": "everything-and-more" } }),
        json!({ "jsonrpc": "2.0", "id": 5, "method": "getTask", "params": { "taskId": "0123abcd" } }),
        json!({ "jsonrpc": "2.0", "method": "aNotification" }),
    ];
    let mut lines =
        vec![hello(0, u32::MAX, &["bincode-999", "msgpack", ""]), "{nonsense".to_owned(), "[]".to_owned()];
    lines.extend(odd.iter().map(Value::to_string));
    lines.push(status(6));
    let answers = talk(&world, &lines).await;
    let first = &answers[0]["result"];
    assert_eq!((&first["protocol"], &first["codec"]), (&json!(1), &json!("json")));
    let code = |code: i32| answers.iter().filter(|a| a["error"]["code"] == json!(code)).count();
    assert_eq!((code(-32700), code(-32600)), (1, 1), "{answers:?}");
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
    assert_eq!(by_id(5)["error"]["data"]["kind"], json!("not_found"));
    assert_eq!(by_id(6)["result"]["pid"], json!(world.daemon.pid()), "the connection stays");
    assert_eq!(answers.len(), 9, "a notification is not answered: {answers:?}");
}
