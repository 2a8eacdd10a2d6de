//! Where the HTTP interface listens: nowhere, unless somebody says so.

use super::open::free_port;
use abide_tests::{
    daemon::{CliRun, Config, Program, TestDaemon},
    http::HttpClient,
    model_server::ModelServer,
    wait,
    world::World,
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs, net::TcpListener};
use tokio::net::TcpStream;

async fn status(world: &World) -> Value {
    world.daemon.cli().json(&["daemon", "status"]).await["http"].clone()
}

/// How many TCP sockets the daemon listens on.
fn listening(world: &World) -> usize {
    let process = format!("/proc/{}", world.daemon.pid());
    let links = fs::read_dir(format!("{process}/fd")).unwrap();
    let links = links.filter_map(|link| fs::read_link(link.unwrap().path()).ok());
    let own: BTreeSet<String> = links.map(|link| link.display().to_string()).collect();
    let tables = ["tcp", "tcp6"].map(|table| fs::read_to_string(format!("{process}/net/{table}")).unwrap());
    let rows = tables.iter().flat_map(|table| table.lines().skip(1));
    let columns = rows.map(|row| row.split_whitespace().collect::<Vec<_>>());
    columns.filter(|row| row[3] == "0A" && own.contains(&format!("socket:[{}]", row[9]))).count()
}

async fn closed(url: &str) {
    let address = url.strip_prefix("http://").unwrap();
    wait::wait_until("the door to close", async || TcpStream::connect(address).await.is_err()).await;
}

/// The address of a door that is open as long as this command runs.
async fn served(serving: &mut CliRun) -> String {
    let reply: Value = serde_json::from_str(&serving.line().await.unwrap()).unwrap();
    reply["params"]["urls"][0].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn it_is_off_until_it_is_opened_and_closes_with_whoever_opened_it() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    assert_eq!(status(&world).await, json!({ "urls": [], "plain": [], "failed": null }));
    assert_eq!(listening(&world), 0);

    let mut serving = cli.start(&["serve", "--url", "http://127.0.0.1:0", "--json"]);
    let url = served(&mut serving).await;
    assert_eq!(listening(&world), 1);
    assert_eq!(HttpClient::at(&url, None).get("/health").await.status, 200);
    let again = cli.run(&["serve", "--url", &url, "--detach"]).await;
    assert!(again.stderr.contains("already"), "{again:?}");
    drop(serving);
    closed(&url).await;

    let detached = cli
        .clone()
        .env("ABIDE_HTTP_URLS", "http://127.0.0.1:0;http://[::1]:0")
        .json(&["serve", "--detach"])
        .await;
    assert_eq!(detached["urls"].as_array().unwrap().len(), 2, "{detached}");
    assert_eq!(status(&world).await["urls"], detached["urls"]);
    assert_eq!(listening(&world), 2);
    let stopped = world.daemon.cli().json(&["serve", "--stop"]).await;
    assert_eq!(stopped["urls"], detached["urls"]);
    assert_eq!(status(&world).await["urls"], json!([]));
    for url in detached["urls"].as_array().unwrap() {
        closed(url.as_str().unwrap()).await;
    }
    assert_eq!(listening(&world), 0);
}

#[tokio::test]
async fn who_opened_a_door_that_was_closed_does_not_close_the_next_one_there() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let mut serving = cli.start(&["serve", "--url", "http://127.0.0.1:0", "--json"]);
    let url = served(&mut serving).await;
    cli.ok(&["serve", "--stop"]).await;
    closed(&url).await;
    cli.ok(&["serve", "--url", &url, "--detach"]).await;
    let connections = async || cli.json(&["daemon", "status"]).await["connections"].as_u64().unwrap();
    let before = connections().await;
    serving.kill().await;
    wait::wait_until("the connection to end", async || connections().await < before).await;
    assert_eq!(status(&world).await["urls"], json!([url]));
    assert_eq!(HttpClient::at(&url, None).get("/health").await.status, 200);
    assert_eq!(cli.json(&["serve", "--stop"]).await["urls"], json!([url]));
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
    // The other program may be anybody's: nothing leads a client to it.
    assert!(refused.stderr.contains("another program") && !refused.stderr.contains("http://"), "{refused:?}");
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
    // It is open as soon as somebody opens it.
    drop(taken);
    world.daemon.cli().ok(&["serve", "--url", &format!("http://127.0.0.1:{port}"), "--detach"]).await;
    assert_eq!(status(&world).await["failed"], json!(null));
}

/// A daemon that can go over to another program, and listens at this port.
async fn replaceable(port: u16) -> World {
    let model = ModelServer::start().await;
    let config = Config::with(&model).http(&format!("listen = [\"http://127.0.0.1:{port}\"]"));
    let mut daemon = TestDaemon::new(&config);
    daemon.with_own_program();
    World::of(model, daemon).await
}

async fn hand_over(world: &World, to: usize, opens: &str) {
    world.daemon.install(&Program::Build(to));
    world.daemon.cli().ok(&["daemon", "update"]).await;
    let address = opens.strip_prefix("http://").unwrap();
    wait::wait_until("the new program to listen", async || {
        world.daemon.runs_installed_program() && TcpStream::connect(address).await.is_ok()
    })
    .await;
}

#[tokio::test]
async fn a_program_that_takes_over_listens_where_it_is_configured_and_where_the_one_before_was_left_open() {
    let port = free_port();
    let world = replaceable(port).await;
    let cli = world.daemon.cli();
    let configured = format!("http://127.0.0.1:{port}");
    let detached = super::open::door(&world).await;
    let plain = cli.json(&["serve", "--url", "http://0.0.0.0:0", "--plain", "--detach"]).await;
    let plain = plain["urls"][0].as_str().unwrap().to_owned();
    let token = cli.ok(&["token", "add", "phone"]).await;
    let device = HttpClient::at(&detached, Some(token.trim()));
    assert_eq!(device.get("/api/sessions").await.status, 200);

    hand_over(&world, 1, &detached).await;
    assert_eq!(device.get("/api/sessions").await.status, 200);
    let all = json!({ "urls": [configured, detached, plain], "plain": [plain], "failed": null });
    assert_eq!(status(&world).await, all);

    // What the configuration does not name any more is not opened again, the others are.
    world.daemon.configure(&Config::with(&world.model));
    hand_over(&world, 2, &detached).await;
    let rest = json!({ "urls": [detached, plain], "plain": [plain], "failed": null });
    assert_eq!(status(&world).await, rest);
}
