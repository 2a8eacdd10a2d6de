//! Who may use the HTTP interface, and for what.

use super::open::{chat, device, door, message, session};
use abide_tests::{
    daemon::Config,
    http::HttpClient,
    model_server::{Gate, ModelServer, Turn},
    wait,
    world::World,
};
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

#[tokio::test]
async fn a_request_needs_a_token_that_allows_it() {
    let world = World::start().await;
    let act = device(&world).await;
    let session = session(&world, &act).await;
    let cli = world.daemon.cli();
    let read = cli.ok(&["token", "add", "screen", "--read"]).await;
    assert_eq!(read.trim_end_matches('\n').len(), 64, "the token alone on a line: {read:?}");
    let bearer = |token: Option<&str>| HttpClient { token: token.map(str::to_owned), ..act.clone() };
    let (none, wrong, read) = (bearer(None), bearer(Some("0000")), bearer(Some(read.trim())));
    let list = "/api/sessions".to_owned();
    let start = format!("/api/sessions/{session}/chat");
    let statuses = async |device: &HttpClient| {
        let (got, posted) = (device.get(&list).await, device.post(&start, &json!({})).await);
        (device.get("/health").await.status, got.status, posted.status)
    };
    assert_eq!(statuses(&none).await, (200, 401, 401));
    assert_eq!(statuses(&wrong).await, (200, 401, 401));
    assert_eq!(statuses(&read).await, (200, 200, 403));
    // The body is refused, not the token.
    assert_eq!(statuses(&act).await, (200, 200, 400));
    // Who has no token keeps no place, whatever is asked for.
    for path in ["/health", "/api/sessions"] {
        let answer = none.raw(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", none.authority)).await;
        assert_eq!(answer.header("connection"), Some("close"), "{path}: {answer:?}");
    }
    let refused = none.get("/api/nothing").await;
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("bearer")), "{refused:?}");
    assert_eq!(refused.json()["data"]["kind"], "forbidden");
    // Nothing of the token is kept.
    let file = world.daemon.home().token_file();
    let kept = std::fs::read_to_string(&file).unwrap();
    for token in [&act.token, &read.token] {
        assert!(!kept.contains(token.as_deref().unwrap()), "{kept}");
        assert!(!world.daemon.output().contains(token.as_deref().unwrap()), "a token in the log");
    }
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let listed = cli.json(&["token", "list"]).await;
    assert_eq!(
        (&listed["tokens"][0]["name"], &listed["tokens"][1]["access"]),
        (&json!("phone"), &json!("read"))
    );

    // Too many guesses: a wrong token is not looked at any more, a right one is.
    let mut last = wrong.get(&list).await;
    for _ in 0..10 {
        last = wrong.get(&list).await;
    }
    assert_eq!((last.status, last.header("retry-after")), (429, Some("60")), "{last:?}");
    assert_eq!((act.get(&list).await.status, none.get(&list).await.status), (200, 401));
    assert_eq!(act.get("/health").await.status, 200);
}

#[tokio::test]
async fn a_revoked_token_ends_what_its_device_has_open() {
    let world = World::start().await;
    let device = device(&world).await;
    let session = session(&world, &device).await;
    let gate = Gate::new("nobody opens it");
    world.model.script("open", [Turn::say("So far.").gate(&gate)]);
    let (_, mut stream) = chat(&device, &session, "open").await;
    stream.until(|event| event.name == "text_delta").await;
    assert_eq!(world.daemon.cli().ok(&["token", "revoke", "phone"]).await, "phone: revoked\n");
    while stream.next().await.is_some() {}
    assert_eq!(device.get("/api/sessions").await.status, 401);
    let again = world.daemon.cli().run(&["token", "revoke", "phone"]).await;
    assert!(again.stderr.contains("there is no token"), "{again:?}");
}

#[tokio::test]
async fn a_token_that_is_revoked_while_its_request_comes_does_nothing() {
    let world = World::start().await;
    let device = device(&world).await;
    let (token, body) = (device.token.as_deref().unwrap(), "{}");
    let mut stream = TcpStream::connect(&device.authority).await.unwrap();
    let head = format!(
        "POST /api/sessions HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nExpect: 100-continue\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n",
        device.authority,
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // The daemon asks for the body: it has taken the token.
    let mut asked = [0; 25];
    wait::within("the body to be asked for", stream.read_exact(&mut asked)).await.unwrap();
    assert!(asked.starts_with(b"HTTP/1.1 100"), "{asked:?}");
    world.daemon.cli().ok(&["token", "revoke", "phone"]).await;
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    wait::within("the answer", stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
}

#[tokio::test]
async fn a_faulty_file_of_tokens_is_named_to_its_owner_alone() {
    let world = World::start().await;
    let (file, cli) = (world.daemon.home().token_file(), world.daemon.cli());
    std::fs::write(&file, "token = 1").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let device = HttpClient::at(&door(&world).await, Some("0000"));
    let answer = device.get("/api/sessions").await;
    assert_eq!((answer.status, &answer.json()["data"]["kind"]), (500, &json!("storage")), "{answer:?}");
    let path = file.display().to_string();
    assert!(!answer.text.contains("tokens.toml") && !answer.text.contains('/'), "{answer:?}");
    let status = cli.json(&["daemon", "status"]).await;
    assert!(status["http"]["failed"].as_str().unwrap().contains(&path), "{status}");
    assert!(world.daemon.output().contains(&path));
    let doctor = cli.run(&["doctor"]).await;
    assert!(doctor.stdout.contains(&path), "{doctor:?}");
    // Mended, it is read again as soon as somebody looks at the tokens.
    std::fs::remove_file(&file).unwrap();
    cli.ok(&["token", "list"]).await;
    assert_eq!(device.get("/api/sessions").await.status, 401);
    assert_eq!(cli.json(&["daemon", "status"]).await["http"]["failed"], json!(null));
}

#[tokio::test]
async fn a_request_that_is_for_another_host_or_of_another_site_is_refused() {
    let model = ModelServer::start().await;
    let config = Config::with(&model).http("hosts = [\"abide.tail.ts.net\"]");
    let world = World::configured(model, &config).await;
    let url = door(&world).await;
    let device = HttpClient::at(&url, None);
    let own = device.authority.clone();
    let table = [
        (format!("Host: {own}"), 200),
        (format!("Host: {}", own.replace("127.0.0.1", "localhost")), 200),
        ("Host: abide.tail.ts.net".to_owned(), 200),
        ("Host: evil.example".to_owned(), 403),
        ("Host: localhost".to_owned(), 403),
        (format!("Host: {own}\r\nHost: {own}"), 400),
        ("X: y".to_owned(), 400),
        (format!("Host: {own}\r\nOrigin: null"), 403),
        (format!("Host: {own}\r\nOrigin: http://{own}"), 200),
        (format!("Host: {own}\r\nOrigin: http://localhost:3000"), 403),
        (format!("Host: {own}\r\nSec-Fetch-Site: cross-site"), 403),
        (format!("Host: {own}\r\nSec-Fetch-Site: same-site"), 403),
        (format!("Host: {own}\r\nSec-Fetch-Site: same-origin"), 200),
    ];
    for (headers, status) in table {
        let answer =
            device.raw(&format!("GET /health HTTP/1.1\r\n{headers}\r\nConnection: close\r\n\r\n")).await;
        assert_eq!(answer.status, status, "{headers:?}: {answer:?}");
        assert!(!answer.head.contains("access-control"), "no other site may read it: {answer:?}");
        assert!(!answer.head.contains("set-cookie"), "{answer:?}");
    }
    let message = message("none").to_string();
    assert_eq!(device.post_text("/api/sessions", &message).await.status, 401);
}
