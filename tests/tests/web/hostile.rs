//! Clients that send too much or too slowly, that never read, and tools that would decide for the person.

use super::open::{chat, device, door, message, session};
use abide_tests::{
    http::HttpClient,
    ledger,
    model_server::{Gate, Script, Turn},
    process, wait,
    world::World,
};
use serde_json::json;
use std::{fs, path::Path};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// More than there may be connections.
const IDLERS: usize = 300;
/// Tasks that bring two MB of records each: more than waits for a client.
const TASKS: usize = 10;

#[tokio::test]
async fn what_is_too_long_is_refused_and_what_is_too_slow_is_cut() {
    let world = World::start().await;
    let device = device(&world).await;
    let session = session(&world, &device).await;
    let long = json!({ "message": "x".repeat(9 * 1024 * 1024) }).to_string();
    let answer = device.post_text(&format!("/api/sessions/{session}/chat"), &long).await;
    assert_eq!((answer.status, &answer.json()["data"]["kind"]), (413, &json!("too_large")));
    let answer = device.get(&format!("/{}", "x".repeat(100 * 1024))).await;
    assert!([414, 431].contains(&answer.status), "{answer:?}");
    for bytes in [&b"GET /health HTTP/1.1\r\nHost: "[..], b"", b"\x16\x03\x01\x02\x00"] {
        let mut slow = TcpStream::connect(&device.authority).await.unwrap();
        slow.write_all(bytes).await.unwrap();
        let mut rest = Vec::new();
        drop(wait::within("a slow client to be cut", slow.read_to_end(&mut rest)).await);
    }
    assert_eq!(device.get("/health").await.status, 200);
}

#[tokio::test]
async fn idle_connections_do_not_keep_others_out_for_long() {
    let world = World::start().await;
    let device = HttpClient::at(&door(&world).await, None);
    let mut idle = Vec::new();
    for _ in 0..IDLERS {
        idle.push(TcpStream::connect(&device.authority).await.unwrap());
    }
    // The local socket is none of their business.
    world.daemon.cli().ok(&["ps"]).await;
    wait::wait_for("a place", async || {
        let mut stream = TcpStream::connect(&device.authority).await.ok()?;
        let request =
            format!("GET /health HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", device.authority);
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        answer.starts_with("HTTP/1.1 200").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_cut_and_goes_on_with_its_last_id() {
    let world = World::start().await;
    let device = device(&world).await;
    let session = session(&world, &device).await;
    let gate = Gate::new("nobody opens it");
    world.model.script("much", Script::by(move |_| Some(Turn::new().gate(&gate).text("Never."))));
    let mut deaf = device.stream(&session, Some("0")).await;
    deaf.read_little();
    let mut message = message("much");
    let words = message["message"].as_str().unwrap();
    message["message"] = json!(format!("{words} {}", "x".repeat(1_000_000)));
    for _ in 0..TASKS {
        let begun = device.post(&format!("/api/sessions/{session}/chat"), &message).await;
        assert_eq!(begun.status, 202, "{begun:?}");
        assert_eq!(device.post(&format!("/api/sessions/{session}/stop"), &json!({})).await.status, 200);
    }
    let all: Vec<u64> = ledger::read(&world.daemon.home()).iter().map(|line| line.seq.0).collect();
    let (mut seen, mut cuts) = (Vec::new(), 0);
    // What is done after a stop may come later.
    while seen.last() < all.last() {
        match deaf.next().await {
            Some(event) => seen.push(event.id.parse().unwrap()),
            None => {
                cuts += 1;
                deaf = device.stream(&session, Some(&deaf.last_id)).await;
            }
        }
    }
    seen.dedup();
    seen.truncate(all.len());
    assert_eq!(seen, all);
    assert!(cuts > 0, "it was not cut");
}

/// Sends the request in the file `$3` to `$1:$2`: 7 if nobody is there, 8 if the answer is not `$4`.
const REACH: &str = r#"
exec 3<>"/dev/tcp/$1/$2" || exit 7
cat "$3" >&3
read -r _ status _ <&3
test "$status" = "$4" || exit 8
"#;

#[tokio::test]
async fn a_tool_that_would_approve_itself_does_not_reach_the_door() {
    let world = World::beneath(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
    let device = device(&world).await;
    let session = session(&world, &device).await;
    let (host, port) = device.authority.split_once(':').unwrap();
    let workspace = world.daemon.workspace();
    // Even a tool that has somehow got the token and the ids.
    let (token, call) = (device.token.as_deref().unwrap(), "0190a1b2-0000-7000-8000-00000000000a");
    let body = r#"{"approved":true}"#;
    let requests = [
        ("health", "200", format!("GET /health HTTP/1.1\r\nHost: {}\r\n\r\n", device.authority)),
        (
            "approve",
            "404",
            format!(
                "POST /api/sessions/{session}/approvals/{call} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer \
                 {token}\r\nContent-Length: {}\r\n\r\n{body}",
                device.authority,
                body.len()
            ),
        ),
    ];
    fs::write(workspace.join("reach.sh"), REACH).unwrap();
    let mut ways = Vec::new();
    for (name, status, request) in requests {
        fs::write(workspace.join(name), request).unwrap();
        ways.push((format!("bash reach.sh {host} {port} {name} {status}"), 7));
    }
    for (way, _) in &ways {
        let mut unconfined = process::program(Path::new("/bin/bash"));
        let done = unconfined.args(["-c", way]).current_dir(&workspace).output().await.unwrap();
        assert_eq!(done.status.code(), Some(0), "unconfined it is a way: {way}: {done:?}");
    }
    ways.push((format!("cat {}", world.daemon.home().token_file().display()), 1));
    let mut turns: Vec<Turn> = ways.iter().map(|(way, _)| Turn::shell(way)).collect();
    turns.push(Turn::done("Done."));
    world.model.script("reach", turns);
    let (_, mut stream) = chat(&device, &session, "reach").await;
    let events = stream.until_end().await;
    let results = events.iter().filter(|e| e.name == "tool_result" && e.data["tool"] == "shell");
    let codes: Vec<_> = results
        .map(|result| {
            assert_eq!(result.data["outcome"], "done", "it ran: {}", result.data);
            assert!(!result.data.to_string().contains("sha256"), "{}", result.data);
            result.data["result"]["data"]["exit_code"].clone()
        })
        .collect();
    assert_eq!(codes, ways.iter().map(|(_, code)| json!(code)).collect::<Vec<_>>(), "{events:#?}");
}
