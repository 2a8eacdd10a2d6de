use super::{CodeLine, MAX_LINE, MAX_WAITS, NOT_A_REQUEST, PIECE, TOO_LONG};
use crate::sub_tasks::{Answer, SubTasks};
use abide_protocol::TaskId;
use serde_json::{Value, json};
use std::{
    pin::pin,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    time::timeout,
};

/// Sub-tasks that end when the test says so.
struct Fake {
    forked: Mutex<Vec<(u32, String)>>,
    ended: watch::Sender<bool>,
}

impl Fake {
    fn new() -> Self {
        Self { forked: Mutex::default(), ended: watch::Sender::new(false) }
    }

    fn forked(&self) -> Vec<(u32, String)> {
        self.forked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl SubTasks for Fake {
    fn fork(&self, index: u32, prompt: String) -> Answer<'_, String> {
        self.forked.lock().unwrap().push((index, prompt.clone()));
        Box::pin(
            async move { if prompt == "refused" { Err("no".to_owned()) } else { Ok(format!("h{index}")) } },
        )
    }

    fn wait(&self, handle: String) -> Answer<'_, Value> {
        Box::pin(async move {
            match &*handle {
                "unknown" => return Err("there is no such sub-task".to_owned()),
                "huge" => return Ok(json!("x".repeat(MAX_LINE))),
                _ => {}
            }
            self.ended.subscribe().wait_for(|ended| *ended).await.unwrap();
            Ok(json!({ "handle": handle, "result": "done" }))
        })
    }

    fn read(&self) -> Vec<TaskId> {
        Vec::new()
    }
}

/// The code's end of the line.
struct Code {
    read: BufReader<OwnedReadHalf>,
    write: OwnedWriteHalf,
}

impl Code {
    async fn send(&mut self, line: &str) {
        self.write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// `None` at the end.
    async fn reply(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.read.read_line(&mut line).await;
        (read.ok()? > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    async fn asks(&mut self, line: &str) -> Value {
        self.send(line).await;
        self.reply().await.unwrap()
    }
}

fn line(fake: &Fake) -> (CodeLine<'_>, Code) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (read, write) = theirs.into_split();
    (CodeLine::new(Some(ours), fake), Code { read: BufReader::new(read), write })
}

/// Serves the line while the code does this.
async fn serve<T>(line: &mut CodeLine<'_>, code: impl Future<Output = T>) -> T {
    let mut code = pin!(code);
    let served = async {
        loop {
            tokio::select! {
                biased;
                done = &mut code => return done,
                () = line.next() => {}
            }
        }
    };
    timeout(Duration::from_secs(60), served).await.unwrap()
}

/// Serves the line until nothing is left to do.
async fn settle(line: &mut CodeLine<'_>) {
    while timeout(Duration::from_millis(100), line.next()).await.is_ok() {}
}

#[tokio::test]
async fn sub_tasks_are_forked_and_waited_for() {
    let fake = Fake::new();
    let (mut line, mut code) = line(&fake);
    let two = serve(&mut line, async {
        [code.asks(r#"{"id":1,"fork":"A"}"#).await, code.asks(r#"{"id":2,"fork":"B"}"#).await]
    });
    assert_eq!(two.await, [json!({ "id": 1, "handle": "h0" }), json!({ "id": 2, "handle": "h1" })]);
    assert_eq!(fake.forked(), [(0, "A".to_owned()), (1, "B".to_owned())]);
    assert!(!line.is_waiting());

    // Two waits are open, and a fork is answered before them.
    code.send("{\"id\":3,\"wait\":\"h0\"}\n{\"id\":4,\"wait\":\"h1\"}").await;
    let refused = serve(&mut line, code.asks(r#"{"id":5,"fork":"refused"}"#)).await;
    assert_eq!(refused, json!({ "id": 5, "error": "no" }));
    assert!(line.is_waiting());
    fake.ended.send_replace(true);
    let mut results =
        serve(&mut line, async { [code.reply().await.unwrap(), code.reply().await.unwrap()] }).await;
    results.sort_by_key(|reply| reply["id"].as_u64());
    assert_eq!(results[0], json!({ "id": 3, "result": { "handle": "h0", "result": "done" } }));
    assert_eq!(results[1]["id"], 4);
    assert!(!line.is_waiting());
    let unknown = serve(&mut line, code.asks(r#"{"id":6,"wait":"unknown"}"#)).await;
    assert_eq!(unknown, json!({ "id": 6, "error": "there is no such sub-task" }));
    let huge = serve(&mut line, code.asks(r#"{"id":7,"wait":"huge"}"#)).await;
    assert_eq!(huge, json!({ "id": 7, "error": "the answer is too long for the line" }));
    assert_eq!((line.handles(), line.fault()), (vec!["h0".to_owned(), "h1".to_owned()], None));
}

#[tokio::test]
async fn an_id_repeated_ten_thousand_times_starts_one_sub_task() {
    let fake = Fake::new();
    let (mut line, Code { mut read, mut write }) = line(&fake);
    let requests = "{\"id\":7,\"fork\":\"A\"}\n".repeat(10_000) + "{\"id\":8,\"wait\":\"unknown\"}\n";
    let send = async { write.write_all(requests.as_bytes()).await.unwrap() };
    let receive = async {
        let mut handles = 0;
        let mut reply = String::new();
        while !reply.contains("\"id\":8") {
            handles += usize::from(reply == "{\"id\":7,\"handle\":\"h0\"}\n");
            reply.clear();
            read.read_line(&mut reply).await.unwrap();
        }
        handles
    };
    let ((), handles) = serve(&mut line, async { tokio::join!(send, receive) }).await;
    assert_eq!(fake.forked(), [(0, "A".to_owned())]);
    // Repeated requests that come meanwhile get one reply.
    assert!((1..=10_000).contains(&handles), "{handles}");
    assert_eq!(line.handles(), ["h0"]);
}

#[tokio::test]
async fn an_id_stands_for_one_request() {
    let fake = Fake::new();
    let (mut line, mut code) = line(&fake);
    serve(&mut line, code.asks(r#"{"id":1,"fork":"refused"}"#)).await;
    let refused = json!({ "id": 1, "error": "no" });
    assert_eq!(serve(&mut line, code.asks(r#"{"id":1,"fork":"refused"}"#)).await, refused);
    for request in [r#"{"id":1,"fork":"B"}"#, r#"{"id":1,"wait":"h0"}"#] {
        let reply = serve(&mut line, code.asks(request)).await;
        assert_eq!(reply, json!({ "id": 1, "error": "this id stands for another request" }), "{request}");
    }
    assert_eq!(fake.forked().len(), 1, "the answer is kept, also a refusal");
}

#[tokio::test]
async fn a_call_has_a_limit_of_forks_and_of_open_waits() {
    let fake = Fake::new();
    let (mut line, mut code) = line(&fake);
    for id in 0..32 {
        let reply = serve(&mut line, code.asks(&format!(r#"{{"id":{id},"fork":"A"}}"#))).await;
        assert_eq!(reply["handle"], format!("h{id}"));
    }
    let reply = serve(&mut line, code.asks(r#"{"id":32,"fork":"A"}"#)).await;
    assert_eq!(reply["error"], "this call has asked for 32 sub-tasks, and that is the limit");
    let reply = serve(&mut line, code.asks(r#"{"id":5,"fork":"A"}"#)).await;
    assert_eq!(reply["handle"], "h5", "a repeated one counts once");
    assert_eq!((fake.forked().len(), line.handles().len()), (32, 32));

    for id in 100..100 + MAX_WAITS {
        for _ in 0..2 {
            code.send(&format!(r#"{{"id":{id},"wait":"h0"}}"#)).await;
        }
    }
    let reply = serve(&mut line, code.asks(r#"{"id":999,"wait":"h0"}"#)).await;
    assert_eq!(reply["error"], "64 waits are open, and that is the limit");
    fake.ended.send_replace(true);
    settle(&mut line).await;
    drop(line);
    let mut replies = 0;
    while code.reply().await.is_some() {
        replies += 1;
    }
    assert_eq!(replies, MAX_WAITS, "a repeated id has one reply");
}

#[tokio::test]
async fn nonsense_closes_the_line_and_says_why() {
    for nonsense in ["nonsense", "", "{\"id\":1}", "{\"id\":1,\"tell\":\"A\"}", "\u{0}"] {
        let fake = Fake::new();
        let (mut line, mut code) = line(&fake);
        code.send(r#"{"id":1,"wait":"h0"}"#).await;
        settle(&mut line).await;
        assert!(line.is_waiting());
        code.send(&format!("{nonsense}\n{{\"id\":2,\"fork\":\"A\"}}")).await;
        settle(&mut line).await;
        assert!(!line.is_waiting(), "{nonsense:?}: the wait is given up");
        assert_eq!(line.fault(), Some(NOT_A_REQUEST), "{nonsense:?}");
        assert_eq!(code.reply().await, Some(json!({ "error": NOT_A_REQUEST })), "{nonsense:?}");
        assert_eq!(code.reply().await, None, "{nonsense:?}");
        assert_eq!(fake.forked(), [], "{nonsense:?}: what follows is not read");
    }
}

#[tokio::test]
async fn a_line_has_a_limit() {
    let fake = Fake::new();
    let (mut line, mut code) = line(&fake);
    let longest = format!(r#"{{"id":1,"fork":"{}"}}"#, "x".repeat(MAX_LINE - r#"{"id":1,"fork":""}"#.len()));
    assert_eq!(serve(&mut line, code.asks(&longest)).await["handle"], "h0");
    assert_eq!(fake.forked()[0].1.len(), MAX_LINE - 18);

    let longer = longest.replace("\"id\":1", "\"id\":22");
    assert_eq!(serve(&mut line, code.asks(&longer)).await, json!({ "error": TOO_LONG }));
    assert_eq!((line.fault(), fake.forked().len()), (Some(TOO_LONG), 1));
}

#[tokio::test]
async fn of_a_line_of_ten_megabytes_the_rest_is_not_read() {
    let fake = Fake::new();
    let (mut line, code) = line(&fake);
    let Code { read: _read, mut write } = code;
    let sent = serve(&mut line, async {
        let (piece, mut sent) = ([b'x'; 4096], 0);
        while sent < 10 << 20 && write.write_all(&piece).await.is_ok() {
            sent += piece.len();
        }
        sent
    });
    let sent = sent.await;
    assert!(sent < MAX_LINE + (1 << 20), "{sent} bytes were taken");
    assert_eq!(line.fault(), Some(TOO_LONG));
}

#[tokio::test]
async fn a_flood_is_read_no_faster_than_its_replies_are() {
    let fake = Fake::new();
    let (mut line, Code { mut read, write }) = line(&fake);
    let requests = "{\"id\":1,\"fork\":\"A\"}\n".repeat(1000);
    let (mut sent, mut is_full) = (0, false);
    let soon = Duration::from_millis(100);
    // Until the socket is full in both directions.
    while !is_full {
        match write.try_write(&requests.as_bytes()[sent % requests.len()..]) {
            Ok(more) => sent += more,
            Err(_) => {
                is_full = timeout(soon, line.next()).await.is_err()
                    && timeout(soon, write.writable()).await.is_err();
            }
        }
        assert!(line.replies.len() <= 4 * PIECE && line.open.len() <= MAX_WAITS, "{}", line.replies.len());
        assert!(sent < 10 << 20, "it is read without end");
    }
    // The line goes on as soon as the code reads.
    let mut reply = String::new();
    serve(&mut line, read.read_line(&mut reply)).await.unwrap();
    assert_eq!(reply, "{\"id\":1,\"handle\":\"h0\"}\n");
    assert_eq!((line.fault(), fake.forked().len()), (None, 1));
}

#[tokio::test]
async fn a_request_may_come_byte_by_byte() {
    let fake = Fake::new();
    let (mut line, mut code) = line(&fake);
    for byte in "{\"id\":1,\"fork\":\"Ä\"}".bytes() {
        code.write.write_all(&[byte]).await.unwrap();
        settle_once(&mut line).await;
    }
    assert_eq!(fake.forked(), []);
    code.write.write_all(b"\n").await.unwrap();
    assert_eq!(serve(&mut line, code.reply()).await.unwrap()["handle"], "h0");
    assert_eq!(fake.forked(), [(0, "Ä".to_owned())]);
}

async fn settle_once(line: &mut CodeLine<'_>) {
    let _ = timeout(Duration::from_secs(60), line.next()).await;
}

#[tokio::test]
async fn nothing_is_carried_out_after_its_end() {
    let fake = Fake::new();
    let (mut line, mut code) = line(&fake);
    code.send(r#"{"id":1,"wait":"h0"}"#).await;
    settle(&mut line).await;
    line.close();
    assert!(!line.is_waiting());
    let spoken = code.write.write_all(b"{\"id\":2,\"fork\":\"A\"}\n").await;
    assert!(spoken.is_err(), "the socket is closed");
    settle(&mut line).await;
    assert_eq!((fake.forked(), line.fault()), (Vec::new(), None));
}

#[tokio::test]
async fn code_that_closes_its_end_waits_no_more() {
    let fake = Fake::new();
    let (mut line, mut code) = line(&fake);
    code.send(r#"{"id":1,"wait":"h0"}"#).await;
    code.send(r#"{"id":2,"fork":"A"}"#).await;
    settle(&mut line).await;
    assert!(line.is_waiting());
    drop(code);
    settle(&mut line).await;
    assert!(!line.is_waiting());
    assert_eq!((line.handles(), line.fault()), (vec!["h0".to_owned()], None));
}

#[tokio::test]
async fn a_command_without_a_line_has_none() {
    let fake = Fake::new();
    let mut line = CodeLine::new(None, &fake);
    assert!(timeout(Duration::from_millis(50), line.next()).await.is_err());
    assert!(!line.is_waiting() && line.handles().is_empty());
}
