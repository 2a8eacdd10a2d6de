//! A script needs only a socket and lines of JSON.

use abide_tests::{model_server::Turn, process, skip::skip, wait, world::World};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"hello","params":{"protocol":{"min":1,"max":1}}}"#;

#[tokio::test]
async fn a_hello_and_a_list_through_socat() {
    let world = World::start().await;
    let task = world.run("socat", [Turn::done("Done.")]).await;
    world.wait_end(task).await;
    let address = format!("UNIX-CONNECT:{}", world.daemon.socket().display());
    let lines = format!(
        "{HELLO}\n{}\n",
        json!({ "jsonrpc": "2.0", "id": "a", "method": "listTasks", "params": { "all": true } })
    );
    let mut socat = process::program("socat");
    let output =
        process::finished(socat.args(["-t", "30", "-", &address]).stdin(process::input(&lines))).await;
    let Ok(output) = output else {
        return skip("a_hello_and_a_list_through_socat", "socat is not installed");
    };
    let answers: Vec<Value> = output
        .stdout
        .split(|b| *b == b'\n')
        .filter(|l| !l.is_empty())
        .map(|l| serde_json::from_slice(l).unwrap())
        .collect();
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert_eq!((&answers[0]["id"], &answers[0]["result"]["codec"]), (&json!(0), &json!("json")));
    assert_eq!(answers[1]["id"], json!("a"));
    assert_eq!(answers[1]["result"]["tasks"][0]["id"], json!(task.task_id.to_string()));
    assert_eq!(answers[1]["result"]["tasks"][0]["status"], json!("completed"));
}

/// The default of vscode-jsonrpc and others: a header, and in a second write the message.
#[tokio::test]
async fn a_library_that_sends_content_length_gets_an_error_in_such_a_frame() {
    let world = World::start().await;
    let mut socket = UnixStream::connect(world.daemon.socket()).await.unwrap();
    socket.write_all(format!("Content-Length: {}\r\n\r\n", HELLO.len()).as_bytes()).await.unwrap();
    socket.write_all(HELLO.as_bytes()).await.unwrap();
    let mut header = String::new();
    let mut answer = BufReader::new(&mut socket);
    wait::within("a header", answer.read_line(&mut header)).await.unwrap();
    // A write that the library makes before it has read the reply does not fail.
    answer.write_all(b"Content-Length: 2\r\n\r\n{}").await.unwrap();
    let mut body = String::new();
    wait::within("the daemon to close", answer.read_to_string(&mut body)).await.unwrap();
    let body = body.strip_prefix("\r\n").unwrap();
    assert_eq!(header, format!("Content-Length: {}\r\n", body.len()));
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!((&body["id"], &body["error"]["code"]), (&json!(0), &json!(-32700)));
    let words = body["error"]["message"].as_str().unwrap();
    assert!(words.contains("newline-delimited JSON") && words.contains("`Content-Length`"), "{words}");
}

#[tokio::test]
async fn a_shutdown_is_answered_before_the_connection_closes() {
    let mut world = World::start().await;
    let mut socket = UnixStream::connect(world.daemon.socket()).await.unwrap();
    let shutdown = json!({ "jsonrpc": "2.0", "id": 7, "method": "shutdown" });
    socket.write_all(format!("{HELLO}\n{shutdown}\n").as_bytes()).await.unwrap();
    socket.shutdown().await.unwrap();
    let mut text = String::new();
    wait::within("the daemon to close", socket.read_to_string(&mut text)).await.unwrap();
    let answer: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&answer["id"], &answer["result"]["cut"]), (&json!(7), &json!([])), "{text}");
    assert!(world.daemon.ended().await.success());
}
