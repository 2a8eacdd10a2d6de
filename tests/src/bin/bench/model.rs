//! A model server that does as little as possible: it sends prepared answers over HTTP and notes when each
//! request came and was answered. (The model server of the scenarios parses and keeps every request, which
//! would dominate the measurements.)

use serde_json::{Value, json};
use std::{
    collections::HashMap,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// The model's name in the configuration.
pub(crate) const MODEL: &str = "test/quick";

/// The bytes at the start of a request that are searched for its key.
const HEAD: usize = 64 * 1024;

/// The times of a request and of its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange {
    /// When the request's last byte came.
    pub(crate) asked: Instant,
    /// For a stream, when its last byte was sent; else just before the answer was sent.
    pub(crate) answered: Option<Instant>,
}

/// The answer to a request.
pub(crate) enum Answer {
    /// Sent at once.
    Whole(Vec<u8>),
    /// Text in a number of deltas, sent `apart` from each other. `text` makes each one when it is sent.
    Stream { deltas: usize, apart: Duration, text: fn(usize) -> String, end: Vec<u8> },
}

/// A request, as the script sees it.
pub(crate) struct Asked<'a> {
    /// The key of the conversation, from `[k:KEY]` in its prompt.
    pub(crate) key: &'a str,
    /// The number of requests with this key before it.
    pub(crate) number: usize,
    pub(crate) body: &'a [u8],
}

/// Decides about the answer to each request. It may block.
type Script = Box<dyn Fn(&Asked<'_>) -> Answer + Send + Sync>;

pub(crate) struct Model {
    address: String,
    shared: Arc<Shared>,
}

struct Shared {
    script: Script,
    exchanges: Mutex<HashMap<String, Vec<Exchange>>>,
    asked: Condvar,
}

impl Shared {
    fn exchanges(&self) -> MutexGuard<'_, HashMap<String, Vec<Exchange>>> {
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Model {
    pub(crate) fn start(script: impl Fn(&Asked<'_>) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let shared =
            Arc::new(Shared { script: Box::new(script), exchanges: Mutex::default(), asked: Condvar::new() });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&serving);
                // A connection ends with its client.
                thread::spawn(move || drop(serve(&stream, &shared)));
            }
        });
        Self { address, shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The exchanges of a conversation.
    pub(crate) fn exchanges(&self, key: &str) -> Vec<Exchange> {
        self.shared.exchanges().get(key).cloned().unwrap_or_default()
    }

    /// Waits until a conversation has sent `times` requests, and returns when the last of them came.
    pub(crate) fn asked(&self, key: &str, times: usize) -> Instant {
        let is_short =
            |exchanges: &mut HashMap<String, Vec<Exchange>>| exchanges.get(key).map_or(0, Vec::len) < times;
        let patience = Duration::from_secs(900);
        let waited = self.shared.asked.wait_timeout_while(self.shared.exchanges(), patience, is_short);
        let (exchanges, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!timeout.timed_out(), "{key:?} did not send {times} model requests");
        exchanges[key][times - 1].asked
    }
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut requests = BufReader::with_capacity(256 * 1024, stream);
    let mut body = Vec::new();
    loop {
        let Some(length) = read_head(&mut requests)? else { return Ok(()) };
        body.resize(length, 0);
        requests.read_exact(&mut body)?;
        let exchange = Exchange { asked: Instant::now(), answered: None };
        let key = key_of(&body);
        let number = {
            let mut exchanges = shared.exchanges();
            let exchanges_of_key = exchanges.entry(key.clone()).or_default();
            exchanges_of_key.push(exchange);
            exchanges_of_key.len() - 1
        };
        shared.asked.notify_all();
        let answered = match (shared.script)(&Asked { key: &key, number, body: &body }) {
            Answer::Whole(events) => {
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length:";
                let whole = [format!("{head} {}\r\n\r\n", events.len()).as_bytes(), &events].concat();
                let answered = Instant::now();
                (&mut &*stream).write_all(&whole)?;
                answered
            }
            Answer::Stream { deltas, apart, text, end } => {
                stream_deltas(stream, deltas, apart, text, &end)?;
                Instant::now()
            }
        };
        if let Some(exchange) =
            shared.exchanges().get_mut(&key).and_then(|exchanges_of_key| exchanges_of_key.get_mut(number))
        {
            exchange.answered = Some(answered);
        }
    }
}

fn stream_deltas(
    mut stream: &TcpStream,
    deltas: usize,
    apart: Duration,
    text: fn(usize) -> String,
    end: &[u8],
) -> io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    )?;
    let mut waiting = Vec::new();
    for number in 0..deltas {
        chunk(&mut waiting, &self::text(&text(number)));
        if apart.is_zero() && waiting.len() < 32 * 1024 {
            continue;
        }
        stream.write_all(&waiting)?;
        waiting.clear();
        if !apart.is_zero() {
            #[expect(clippy::disallowed_methods, reason = "a paced reply")]
            thread::sleep(apart);
        }
    }
    chunk(&mut waiting, end);
    waiting.extend_from_slice(b"0\r\n\r\n");
    stream.write_all(&waiting)
}

fn chunk(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend_from_slice(format!("{:x}\r\n", bytes.len()).as_bytes());
    to.extend_from_slice(bytes);
    to.extend_from_slice(b"\r\n");
}

/// Reads a request's head and returns the length of its body. `None` at the end of the connection.
fn read_head(from: &mut BufReader<&TcpStream>) -> io::Result<Option<usize>> {
    let mut length = 0;
    let mut line = String::new();
    loop {
        line.clear();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            return Ok(Some(length));
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
}

/// The text in `[k:…]`.
fn key_of(body: &[u8]) -> String {
    let head = &body[..body.len().min(HEAD)];
    let from = head.windows(3).position(|w| w == b"[k:").map_or(head.len(), |at| at + 3);
    let key = head[from..].split(|b| *b == b']').next().unwrap_or_default();
    String::from_utf8_lossy(key).into_owned()
}

fn event(delta: &Value, finish: Option<&str>) -> Vec<u8> {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    let chunk = json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "quick", "choices": [choice] });
    format!("data: {chunk}\n\n").into_bytes()
}

fn end(reason: &str) -> Vec<u8> {
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 });
    let usage = json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "quick", "choices": [], "usage": usage });
    let mut end = event(&json!({}), Some(reason));
    end.extend_from_slice(format!("data: {usage}\n\ndata: [DONE]\n\n").as_bytes());
    end
}

/// A delta of text.
pub(crate) fn text(text: &str) -> Vec<u8> {
    event(&json!({ "content": text }), None)
}

/// The end of a reply that is only text.
pub(crate) fn end_of_text() -> Vec<u8> {
    end("stop")
}

/// A reply that is only this JSON.
pub(crate) fn say(json: &Value) -> Answer {
    Answer::Whole([text(&json.to_string()), end_of_text()].concat())
}

/// A reply that is one call.
pub(crate) fn call(number: usize, tool: &str, arguments: &Value) -> Answer {
    calls(number, &[(tool, arguments)])
}

fn calls(number: usize, calls: &[(&str, &Value)]) -> Answer {
    let call = |(index, (tool, arguments)): (usize, &(&str, &Value))| {
        let function = json!({ "name": tool, "arguments": arguments.to_string() });
        json!({ "index": index, "id": format!("call_{number}_{index}"), "type": "function", "function": function })
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    let delta = json!({ "role": "assistant", "content": null, "tool_calls": calls });
    Answer::Whole([event(&delta, None), end("tool_calls")].concat())
}

/// A command that does nothing. The number makes each call different, so that the engine does not take them
/// for a loop.
pub(crate) fn shell_true(number: usize) -> Answer {
    call(number, "shell", &json!({ "command": format!("true {number}") }))
}

/// A step without a process.
pub(crate) fn update(number: usize) -> Answer {
    call(number, "send_update", &json!({ "message": format!("step {number}") }))
}

pub(crate) fn ask(number: usize) -> Answer {
    call(number, "ask_user", &json!({ "question": "Which of the two do you want?" }))
}

pub(crate) fn done(number: usize) -> Answer {
    call(number, "task_complete", &json!({ "summary": "Done." }))
}

/// Starts a sub-task for each of these keys and waits for them, and for those before them.
pub(crate) fn fork_and_wait(number: usize, keys: &[String]) -> Answer {
    let forks: Vec<Value> =
        keys.iter().map(|key| json!({ "prompt": format!("[k:{key}] Do your part.") })).collect();
    let wait = json!({});
    let all: Vec<(&str, &Value)> = forks.iter().map(|fork| ("fork", fork)).chain([("wait", &wait)]).collect();
    calls(number, &all)
}
