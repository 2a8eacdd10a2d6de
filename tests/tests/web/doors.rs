//! Where the HTTP interface listens: nowhere, unless somebody says so.

use super::open::free_port;
use abide_tests::{
    daemon::{Config, Program, TestDaemon},
    http::HttpClient,
    model_server::ModelServer,
    wait,
    world::World,
};
use serde_json::{Value, json};
use std::{fs, net::TcpListener};
use tokio::net::TcpStream;

async fn status(world: &World) -> Value {
    world.daemon.cli().json(&["daemon", "status"]).await["http"].clone()
}

#[tokio::test]
async fn it_is_off_until_it_is_opened_and_closes_with_whoever_opened_it() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    assert_eq!(status(&world).await, json!({ "urls": [], "plain": [], "failed": null }));
    let listening = fs::read_to_string(format!("/proc/{}/net/tcp", world.daemon.pid())).unwrap();
    let open = |table: &str, port: u16| table.contains(&format!(":{port:04X} 00000000:0000 0A"));

    let mut serving = cli.start(&["serve", "--url", "http://127.0.0.1:0", "--json"]);
    let reply: Value = serde_json::from_str(&serving.line().await.unwrap()).unwrap();
    let url = reply["params"]["urls"][0].as_str().unwrap().to_owned();
    let port: u16 = url.rsplit(':').next().unwrap().parse().unwrap();
    assert!(!open(&listening, port));
    assert_eq!(HttpClient::at(&url, None).get("/health").await.status, 200);
    let again = cli.run(&["serve", "--url", &url, "--detach"]).await;
    assert!(again.stderr.contains("already"), "{again:?}");
    drop(serving);
    let address = url.strip_prefix("http://").unwrap();
    wait::wait_until("the door to close", async || TcpStream::connect(address).await.is_err()).await;

    let detached = cli
        .clone()
        .env("ABIDE_HTTP_URLS", "http://127.0.0.1:0;http://[::1]:0")
        .json(&["serve", "--detach"])
        .await;
    assert_eq!(detached["urls"].as_array().unwrap().len(), 2, "{detached}");
    assert_eq!(status(&world).await["urls"], detached["urls"]);
    let closed = world.daemon.cli().json(&["serve", "--stop"]).await;
    assert_eq!(closed["urls"], detached["urls"]);
    assert_eq!(status(&world).await["urls"], json!([]));
}

#[tokio::test]
async fn localhost_is_both_addresses_and_an_address_of_the_network_has_to_be_allowed() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let port = free_port();
    cli.ok(&["serve", "--url", &format!("http://localhost:{port}"), "--detach"]).await;
    for authority in [format!("127.0.0.1:{port}"), format!("[::1]:{port}")] {
        let device = HttpClient { authority, token: None };
        assert_eq!(device.get("/health").await.status, 200, "{device:?}");
    }
    // One of the two is taken: neither is opened.
    let taken = TcpListener::bind("[::1]:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let refused = cli.run(&["serve", "--url", &format!("http://localhost:{port}"), "--detach"]).await;
    assert!(refused.stderr.contains(&format!("cannot listen on [::1]:{port}")), "{refused:?}");
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());

    let refused = cli.run(&["serve", "--url", "http://0.0.0.0:0", "--detach"]).await;
    assert!(refused.code == Some(2) && refused.stderr.contains("--plain"), "{refused:?}");
    let reply = cli.json(&["serve", "--url", "http://0.0.0.0:0", "--plain", "--detach"]).await;
    assert_eq!(status(&world).await["plain"], reply["urls"]);
    let shown = cli.ok(&["daemon", "status"]).await;
    assert!(shown.contains("nothing is encrypted"), "{shown}");
    let url = reply["urls"][0].as_str().unwrap().replace("0.0.0.0", "127.0.0.1");
    assert_eq!(HttpClient::at(&url, None).get("/health").await.status, 200);
}

#[tokio::test]
async fn the_configuration_opens_it_and_what_cannot_be_opened_is_said() {
    let model = ModelServer::start().await;
    let port = free_port();
    let config = Config::with(&model).http(&format!("listen = [\"http://127.0.0.1:{port}\"]"));
    let mut world = World::configured(model, &config).await;
    let device = HttpClient { authority: format!("127.0.0.1:{port}"), token: None };
    assert_eq!(device.get("/health").await.status, 200);
    world.daemon.stop().await;
    let taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
    world.daemon.up().await;
    let failed = status(&world).await["failed"].as_str().unwrap().to_owned();
    assert!(failed.contains(&format!("cannot listen on 127.0.0.1:{port}")), "{failed}");
    drop(taken);
}

#[tokio::test]
async fn a_program_that_takes_over_listens_where_the_one_before_did() {
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model));
    daemon.with_own_program();
    let world = World::of(model, daemon).await;
    let cli = world.daemon.cli();
    let url = super::open::door(&world).await;
    let token = cli.ok(&["token", "add", "phone"]).await;
    let device = HttpClient::at(&url, Some(token.trim()));
    assert_eq!(device.get("/api/sessions").await.status, 200);
    world.daemon.install(&Program::Build(1));
    cli.ok(&["daemon", "update"]).await;
    wait::wait_until("the new program to listen", async || {
        world.daemon.runs_installed_program() && TcpStream::connect(&device.authority).await.is_ok()
    })
    .await;
    assert_eq!(device.get("/api/sessions").await.status, 200);
    assert_eq!(status(&world).await["urls"], json!([url]));
}
