//! A world with an open door.

use abide_tests::{
    http::{EventStream, HttpClient},
    world::World,
};
use serde_json::{Value, json};
use std::{
    net::TcpListener,
    sync::atomic::{AtomicU16, Ordering},
};

/// A port that nobody listens on, on both loopback addresses. It is none of those that the system gives to
/// whoever asks for any.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 10_000 + u16::try_from(std::process::id() % 20_000).unwrap();
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed);
        if ["127.0.0.1", "::1"].iter().all(|address| TcpListener::bind((*address, port)).is_ok()) {
            return port;
        }
    }
}

/// Opens the HTTP interface at a port of the system's choice; returns the URL.
pub(crate) async fn door(world: &World) -> String {
    let reply = world.daemon.cli().json(&["serve", "--url", "http://127.0.0.1:0", "--detach"]).await;
    reply["urls"][0].as_str().unwrap().to_owned()
}

/// A device that may act.
pub(crate) async fn device(world: &World) -> HttpClient {
    let token = world.daemon.cli().ok(&["token", "add", "phone"]).await;
    HttpClient::at(&door(world).await, Some(token.trim()))
}

/// A session in the test's workspace.
pub(crate) async fn session(world: &World, device: &HttpClient) -> String {
    let made = device.post("/api/sessions", &json!({ "workspacePath": world.daemon.workspace() })).await;
    assert_eq!(made.status, 200, "{made:?}");
    made.json()["sessionId"].as_str().unwrap().to_owned()
}

/// What the model is asked by, so that it follows the script of `key`.
pub(crate) fn message(key: &str) -> Value {
    json!({ "message": format!("[k:{key}] Do what the script says."), "mode": "agent" })
}

/// Starts a task and opens its stream from its beginning.
pub(crate) async fn chat(device: &HttpClient, session: &str, key: &str) -> (Value, EventStream) {
    let begun = device.post(&format!("/api/sessions/{session}/chat"), &message(key)).await;
    assert_eq!(begun.status, 202, "{begun:?}");
    let begun = begun.json();
    let stream = device.stream(session, begun["lastEventId"].as_str()).await;
    (begun, stream)
}
