//! A plain HTTP client of the daemon, over TCP: what it sends is what a test writes, and nothing is repeated
//! or followed.

use crate::wait;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

/// Who asks, and where.
#[derive(Debug, Clone)]
pub struct HttpClient {
    /// As `127.0.0.1:5000`.
    pub authority: String,
    pub token: Option<String>,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    /// The head, in lower case.
    pub head: String,
    pub text: String,
}

/// An event of a stream. One without data has only an id; a chunk has no name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentEvent {
    pub id: String,
    pub name: String,
    pub data: Value,
}

/// A stream of events that is open.
pub struct EventStream {
    lines: BufReader<TcpStream>,
    /// The newest id.
    pub last_id: String,
}

impl Answer {
    /// # Panics
    /// It is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl HttpClient {
    /// At the address of this URL.
    ///
    /// # Panics
    /// It is no HTTP URL.
    #[must_use]
    pub fn at(url: &str, token: Option<&str>) -> Self {
        let authority = url.trim().strip_prefix("http://").expect("an HTTP URL").to_owned();
        Self { authority, token: token.map(str::to_owned) }
    }

    fn head(&self, method: &str, path: &str, more: &str) -> String {
        let token = self.token.iter().map(|token| format!("Authorization: Bearer {token}\r\n"));
        let token = token.collect::<String>();
        format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n{token}{more}", self.authority)
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.get_after(path, "").await
    }

    /// With the id of the last event that the client has.
    pub async fn get_after(&self, path: &str, last_id: &str) -> Answer {
        let more = format!("Connection: close\r\nLast-Event-ID: {last_id}\r\n\r\n");
        self.raw(&self.head("GET", path, &more)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_text(path, &body.to_string()).await
    }

    /// With a body that need not be JSON.
    pub async fn post_text(&self, path: &str, body: &str) -> Answer {
        let more = format!("Connection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        self.raw(&self.head("POST", path, &more)).await
    }

    /// Sends these bytes on a connection of their own and reads to its end.
    ///
    /// # Panics
    /// There is no whole answer.
    pub async fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.authority).await.expect("the door is open");
        // It may have answered and closed before it has read everything.
        drop(stream.write_all(request.as_bytes()).await);
        let mut text = Vec::new();
        drop(wait::within("an answer", stream.read_to_end(&mut text)).await);
        let text = String::from_utf8(text).expect("the answer is text");
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Answer { status, head: head.to_lowercase(), text: body.to_owned() }
    }

    /// Opens the stream of a session after this id.
    ///
    /// # Panics
    /// It is refused.
    pub async fn stream(&self, session: &str, last_id: Option<&str>) -> EventStream {
        self.events(&format!("/api/sessions/{session}/stream"), last_id).await
    }

    /// Opens the stream of this path after this id.
    ///
    /// # Panics
    /// It is refused.
    pub async fn events(&self, path: &str, last_id: Option<&str>) -> EventStream {
        let cursor = last_id.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        let request = self.head("GET", path, &cursor);
        let mut stream = TcpStream::connect(&self.authority).await.expect("the door is open");
        stream.write_all(format!("{request}\r\n").as_bytes()).await.expect("the request is sent");
        let mut opened = EventStream { lines: BufReader::new(stream), last_id: String::new() };
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = wait::within("the head", opened.lines.read_line(&mut head)).await;
            assert!(read.expect("a head") > 0, "the stream was refused: {head}");
        }
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(head.to_lowercase().contains("content-type: text/event-stream"), "{head}");
        opened
    }
}

impl EventStream {
    /// Takes little before it is read.
    ///
    /// # Panics
    /// The system refuses.
    pub fn read_little(&self) {
        let set = rustix::net::sockopt::set_socket_recv_buffer_size(self.lines.get_ref(), 64 * 1024);
        set.expect("the buffer can be small");
    }

    /// The next event; `None`: the stream is over.
    ///
    /// # Panics
    /// It is no stream of events.
    pub async fn next(&mut self) -> Option<SentEvent> {
        wait::within("the next event", self.read()).await
    }

    async fn read(&mut self) -> Option<SentEvent> {
        let (mut name, mut data) = (String::new(), None);
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).await.ok()? == 0 {
                return None;
            }
            // Between the lines of the stream are the sizes of its chunks.
            let line = line.trim_end();
            match line.split_once(": ") {
                Some(("id", id)) => id.clone_into(&mut self.last_id),
                Some(("event", event)) => event.clone_into(&mut name),
                Some(("data", text)) => data = Some(serde_json::from_str(text).expect("the data is JSON")),
                Some(("retry", _)) | None => {}
                Some(_) => panic!("no line of a stream: {line:?}"),
            }
            if line.is_empty()
                && let Some(data) = data.take()
            {
                return Some(SentEvent { id: self.last_id.clone(), name, data });
            }
        }
    }

    /// Reads up to a comment.
    ///
    /// # Panics
    /// None comes.
    pub async fn comment(&mut self) {
        let mut line = String::new();
        while !line.starts_with(':') {
            line.clear();
            let read = wait::within("a comment", self.lines.read_line(&mut line)).await;
            assert!(read.is_ok_and(|read| read > 0), "the stream is over");
        }
    }

    /// Reads up to an event that satisfies `is_it`; returns all of them.
    ///
    /// # Panics
    /// The stream ends before.
    pub async fn until(&mut self, is_it: impl Fn(&SentEvent) -> bool) -> Vec<SentEvent> {
        let mut seen = Vec::new();
        loop {
            let event = self.next().await.unwrap_or_else(|| panic!("the stream is over after {seen:#?}"));
            let found = is_it(&event);
            seen.push(event);
            if found {
                return seen;
            }
        }
    }

    /// Reads up to the end of the task.
    pub async fn until_end(&mut self) -> Vec<SentEvent> {
        self.until(SentEvent::is_end).await
    }
}

impl SentEvent {
    /// The task has ended.
    #[must_use]
    pub fn is_end(&self) -> bool {
        self.name == "completed" && self.data["final"] == true
    }
}
