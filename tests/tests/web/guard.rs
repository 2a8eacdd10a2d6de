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

/// Headers, and the status of a request with them. `OWN` is where the daemon listens, `PORT` its port.
const VECTORS: [(&str, u16); 60] = [
    ("Host: OWN", 200),
    ("hOST:OWN", 200),
    ("Host:   OWN  ", 200),
    ("Host: localhost:PORT", 200),
    ("Host: LocalHost:PORT", 200),
    ("Host: [::1]:PORT", 200),
    ("Host: abide.tail.ts.net", 200),
    ("Host: abide.tail.ts.net:443", 200),
    ("X: y", 400),
    ("Host: OWN\r\nHost: OWN", 400),
    ("Host: OWN\r\nHost: evil.example", 400),
    ("Host: evil.example\r\nHost: OWN", 400),
    ("Host: OWN\r\n evil.example", 400),
    ("Host : OWN", 400),
    ("Host:", 403),
    ("Host: evil.example", 403),
    ("Host: evil.example:PORT", 403),
    ("Host: localhost", 403),
    ("Host: localhost.:PORT", 403),
    ("Host: localhost.evil.example:PORT", 403),
    ("Host: OWN.evil.example", 403),
    ("Host: OWN,evil.example", 403),
    ("Host: OWN evil.example", 403),
    ("Host: evil.example#OWN", 403),
    ("Host: evil.example/@OWN", 403),
    ("Host: me@OWN", 403),
    ("Host: OWN/", 403),
    ("Host: http://OWN", 403),
    ("Host: 127.0.0.1:", 403),
    ("Host: 127.1:PORT", 403),
    ("Host: 2130706433:PORT", 403),
    ("Host: 0x7f000001:PORT", 403),
    ("Host: 0.0.0.0:PORT", 403),
    ("Host: [::ffff:127.0.0.1]:PORT", 403),
    ("Host: [::1]:PORT]", 403),
    ("Host: evil.example\r\nX-Forwarded-Host: OWN", 403),
    ("Host: evil.example\r\nForwarded: host=OWN", 403),
    ("Host: OWN\r\nOrigin: http://OWN", 200),
    ("Host: OWN\r\nOrigin: http://localhost:PORT", 200),
    ("Host: OWN\r\nOrigin: https://abide.tail.ts.net", 200),
    ("Host: OWN\r\nOrigin: null", 403),
    ("Host: OWN\r\nOrigin:", 403),
    ("Host: OWN\r\nOrigin: http://localhost:3000", 403),
    ("Host: OWN\r\nOrigin: http://evil.example", 403),
    ("Host: OWN\r\nOrigin: http://OWN.evil.example", 403),
    ("Host: OWN\r\nOrigin: http://evil.example:PORT", 403),
    ("Host: OWN\r\nOrigin: http://me@OWN", 403),
    ("Host: OWN\r\nOrigin: http://OWN/", 403),
    ("Host: OWN\r\nOrigin: OWN", 403),
    ("Host: OWN\r\nOrigin: chrome-extension://abcdefgh", 403),
    ("Host: OWN\r\nOrigin: http://OWN http://evil.example", 403),
    ("Host: OWN\r\nOrigin: http://OWN\r\nOrigin: http://evil.example", 403),
    ("Host: OWN\r\nSec-Fetch-Site: same-origin", 200),
    ("Host: OWN\r\nSec-Fetch-Site: none", 200),
    ("Host: OWN\r\nSec-Fetch-Site: same-site", 403),
    ("Host: OWN\r\nSec-Fetch-Site: cross-site", 403),
    ("Host: OWN\r\nSec-Fetch-Site: same-origin, cross-site", 403),
    ("Host: OWN\r\nSec-Fetch-Site:", 403),
    ("Host: OWN\r\nOrigin: http://OWN\r\nSec-Fetch-Site: cross-site", 403),
    ("Host: OWN\r\nOrigin: http://evil.example\r\nSec-Fetch-Site: same-origin", 403),
];

#[tokio::test]
async fn a_request_that_is_for_another_host_or_of_another_site_is_refused() {
    let model = ModelServer::start().await;
    let config = Config::with(&model).http("hosts = [\"abide.tail.ts.net\"]");
    let world = World::configured(model, &config).await;
    let device = device(&world).await;
    let own = device.authority.clone();
    let token = device.token.as_deref().unwrap();
    let port = own.rsplit(':').next().unwrap();
    let refuses = async |line: &str, headers: &str, status: u16| {
        let headers = headers.replace("OWN", &own).replace("PORT", port);
        let line = line.replace("OWN", &own);
        let answer = device.raw(&format!("{line}\r\n{headers}\r\nConnection: close\r\n\r\n")).await;
        assert_eq!(answer.status, status, "{line} {headers:?}: {answer:?}");
        assert!(!answer.head.contains("access-control"), "no other site may read it: {answer:?}");
        assert!(!answer.head.contains("set-cookie"), "{answer:?}");
    };
    for (headers, status) in VECTORS {
        refuses("GET /health HTTP/1.1", headers, status).await;
    }
    // Whatever is asked for and however, also with a token that may act.
    let evil = format!("Host: OWN\r\nAuthorization: Bearer {token}\r\nOrigin: http://evil.example");
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==";
    for (line, headers, status) in [
        ("GET / HTTP/1.1", evil.clone(), 403),
        ("GET /api/sessions HTTP/1.1", evil.clone(), 403),
        ("GET /nothing HTTP/1.1", evil.clone(), 403),
        ("POST /api/sessions HTTP/1.1", format!("{evil}\r\nContent-Type: text/plain"), 403),
        ("OPTIONS /api/sessions HTTP/1.1", format!("{evil}\r\nAccess-Control-Request-Method: POST"), 403),
        ("GET /ws HTTP/1.1", format!("{evil}\r\n{upgrade}"), 403),
        ("GET http://OWN/health HTTP/1.1", "Host: OWN".to_owned(), 200),
        ("GET http://evil.example/health HTTP/1.1", "Host: OWN".to_owned(), 403),
        ("GET http://OWN/health HTTP/1.1", "Host: evil.example".to_owned(), 403),
        ("GET /health HTTP/1.0", "X: y".to_owned(), 400),
    ] {
        refuses(line, &headers, status).await;
    }
    let message = message("none").to_string();
    let stranger = HttpClient { token: None, ..device.clone() };
    assert_eq!(stranger.post_text("/api/sessions", &message).await.status, 401);
}
