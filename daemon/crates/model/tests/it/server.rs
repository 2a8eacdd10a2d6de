//! A small HTTP/1.1 server that sends exactly what a test says, chunk by chunk, and keeps the requests.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinSet,
};

/// The response to one request.
pub(crate) enum Answer {
    /// A complete response.
    Whole { status: u16, headers: Vec<(&'static str, String)>, body: Vec<u8> },
    /// A chunked `text/event-stream`, step by step.
    Stream(Vec<Step>),
    /// Nothing, until the client closes the connection.
    Silence,
}

pub(crate) enum Step {
    /// One chunk, flushed.
    Bytes(Vec<u8>),
    Pause(std::time::Duration),
    /// Waits until this is notified.
    Gate(Arc<Notify>),
    /// Breaks the connection in the middle of the body.
    Cut,
    /// Sends nothing more and waits until the client closes the connection.
    Hang,
}

/// A received request.
#[derive(Clone)]
pub(crate) struct Seen {
    /// Counts from 0.
    pub(crate) connection: usize,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

#[derive(Default)]
struct State {
    answers: Mutex<VecDeque<Answer>>,
    /// By path.
    pages: Vec<(&'static str, &'static str)>,
    seen: Mutex<Vec<Seen>>,
    asked: Notify,
    gone: Notify,
}

/// Stops when dropped.
pub(crate) struct Server {
    pub(crate) port: u16,
    state: Arc<State>,
    _tasks: JoinSet<()>,
}

impl Server {
    /// Answers requests in this order; any more get 500 `unexpected`.
    pub(crate) async fn start(answers: Vec<Answer>) -> Self {
        Self::with(State { answers: Mutex::new(answers.into()), ..State::default() }).await
    }

    /// Answers each of these paths with this JSON, and others with 404.
    pub(crate) async fn pages(pages: &[(&'static str, &'static str)]) -> Self {
        Self::with(State { pages: pages.to_vec(), ..State::default() }).await
    }

    async fn with(state: State) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(state);
        let mut tasks = JoinSet::new();
        let shared = Arc::clone(&state);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            for number in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                connections.spawn(serve(number, stream, Arc::clone(&shared)));
            }
        });
        Self { port, state, _tasks: tasks }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap().clone()
    }

    pub(crate) fn only(&self) -> Seen {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "requests");
        seen.into_iter().next().unwrap()
    }

    /// Waits for a request that no earlier call has waited for.
    pub(crate) async fn asked(&self) {
        self.state.asked.notified().await;
    }

    /// The client has closed a connection whose answer hung.
    pub(crate) async fn client_gone(&self) {
        self.state.gone.notified().await;
    }
}

async fn serve(number: usize, mut stream: TcpStream, state: Arc<State>) {
    while let Some(seen) = read_request(number, &mut stream).await {
        let page = state.pages.iter().find(|(path, _)| *path == seen.path);
        let page = (!state.pages.is_empty()).then(|| page_of(page.map(|(_, body)| *body)));
        state.seen.lock().unwrap().push(seen);
        state.asked.notify_one();
        let answer = page.or_else(|| state.answers.lock().unwrap().pop_front());
        let answer = answer.unwrap_or_else(|| Answer::Whole {
            status: 500,
            headers: Vec::new(),
            body: b"unexpected".to_vec(),
        });
        match answer {
            Answer::Whole { status, headers, body } => {
                let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
                for (name, value) in headers {
                    head += &format!("{name}: {value}\r\n");
                }
                let _ = stream.write_all((head + "\r\n").as_bytes()).await;
                let _ = stream.write_all(&body).await;
            }
            Answer::Stream(steps) => {
                if !play(steps, &mut stream, &state).await {
                    return;
                }
            }
            Answer::Silence => return wait_for_end(&mut stream, &state).await,
        }
    }
}

fn page_of(body: Option<&str>) -> Answer {
    let headers = vec![("content-type", "application/json".to_owned())];
    let (status, body) = body.map_or((404, "404 page not found"), |body| (200, body));
    Answer::Whole { status, headers, body: body.as_bytes().to_vec() }
}

/// Returns whether the connection can be used again.
async fn play(steps: Vec<Step>, stream: &mut TcpStream, state: &State) -> bool {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let _ = stream.write_all(head.as_bytes()).await;
    for step in steps {
        match step {
            Step::Bytes(bytes) => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend(bytes);
                chunk.extend(b"\r\n");
                if stream.write_all(&chunk).await.is_err() {
                    return false;
                }
                // Lets the client read this chunk by itself.
                tokio::task::yield_now().await;
            }
            Step::Pause(time) => tokio::time::sleep(time).await,
            Step::Gate(gate) => gate.notified().await,
            Step::Cut => return false,
            Step::Hang => {
                wait_for_end(stream, state).await;
                return false;
            }
        }
    }
    stream.write_all(b"0\r\n\r\n").await.is_ok()
}

async fn wait_for_end(stream: &mut TcpStream, state: &State) {
    let mut rest = [0; 64];
    while matches!(stream.read(&mut rest).await, Ok(n) if n > 0) {}
    state.gone.notify_one();
}

async fn read_request(connection: usize, stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(n, _)| n == "content-length").map_or(0, |(_, v)| v.parse().unwrap());
    let mut body = bytes.split_off(head_end + 4);
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some(Seen { connection, path, headers, body })
}

/// Starts a server with a self-signed certificate; returns its port. It serves until the test's process ends,
/// one client at a time.
pub(crate) fn self_signed() -> u16 {
    use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
    let certificate = CertificateDer::from(&include_bytes!("certificate/localhost.der")[..]);
    let key = PrivatePkcs8KeyDer::from(&include_bytes!("certificate/localhost.key.der")[..]);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key.into())
        .unwrap();
    let config = Arc::new(config);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            // The client does not accept the certificate.
            drop(connection.complete_io(&mut stream));
        }
    });
    port
}
