//! Libraries of other projects read streams whose connection is cut at any byte: they get what is recorded.

use super::{
    agent, cuts,
    open::{door, message, session},
};
use abide_tests::{
    cutter::Cutter,
    daemon::Config,
    http::{HttpClient, SentEvent},
    model_server::{Gate, ModelServer, Script, Turn},
    peer,
    seed::{Seed, times},
    skip::skip,
    wait,
    world::World,
};
use serde_json::{Value, json};
use std::{
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout},
};

/// How often a stream is cut; tests/nightly cuts each 300 times.
const CUTS: usize = 40;

/// The names of a session's events: some libraries tell only those that they are asked for.
const NAMES: [&str; 11] = [
    "text_delta",
    "tool_call",
    "approval_required",
    "approval_decided",
    "tool_result",
    "question",
    "question_answered",
    "completed",
    "error",
    "state",
    "trace",
];

/// A daemon behind a proxy that cuts, and a device beside it.
struct Place {
    world: World,
    device: HttpClient,
    cutter: Cutter,
    token: String,
}

impl Place {
    async fn start(test: &str) -> Self {
        let cutter = Cutter::start(Seed::drawn(test)).await;
        let model = ModelServer::start().await;
        let config = Config::with(&model)
            .http(&format!("hosts = [\"{}\"]", cutter.authority))
            .task(&format!("max_steps = {}", 2 * wanted()));
        let world = World::configured(model, &config).await;
        let token = world.daemon.cli().ok(&["token", "add", "phone"]).await.trim().to_owned();
        let device = HttpClient::at(&door(&world).await, Some(&token));
        cutter.lead_to(&device.authority);
        Self { world, device, cutter, token }
    }

    /// Reads through the proxy; `None`: the library is not installed.
    fn reads(&self, path: &str) -> Option<Reader> {
        let mut command = peer::client("events")?;
        command.arg(format!("http://{}{path}", self.cutter.authority));
        command.arg(format!("Bearer {}", self.token)).args(NAMES).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Some(Reader { _child: child, lines, seen: Vec::new() })
    }

    /// The script of a task that lasts until its stream was cut often enough: each reply waits in the middle
    /// until the reader has its first half and its connection was cut.
    fn script(&self, key: &str) -> Half {
        let gates: Vec<Gate> = (0..wanted()).map(|_| Gate::new("the first half was read and cut")).collect();
        let is_enough = Arc::new(AtomicBool::new(false));
        let half = Half { gates: gates.clone(), is_enough: Arc::clone(&is_enough) };
        let turn = move |number: usize| match gates.get(number) {
            Some(gate) if !is_enough.load(Ordering::Relaxed) => {
                // Some libraries take these for ends of lines.
                let rest = format!(" and\u{2028}the rest\u{85} “{number}”.");
                let path = format!(".{}", "/.".repeat(number));
                Turn::say(first_half(number)).gate(gate).text(rest).call("list", json!({ "path": path }))
            }
            _ => Turn::done("Done."),
        };
        self.world.model.script(key, Script::by(move |number| Some(turn(number))));
        half
    }
}

fn wanted() -> usize {
    times("ABIDE_TEST_CUTS", CUTS)
}

fn first_half(number: usize) -> String {
    format!("Half a réply {number},")
}

/// Replies that wait in the middle.
struct Half {
    gates: Vec<Gate>,
    is_enough: Arc<AtomicBool>,
}

impl Half {
    /// Cuts the reader off in each reply, and often elsewhere.
    async fn cut(&self, reader: &mut Reader, cutter: &Cutter) {
        for (number, gate) in self.gates.iter().enumerate() {
            reader.until_said(&first_half(number)).await;
            cutter.cut();
            if cutter.cuts() >= wanted() {
                self.is_enough.store(true, Ordering::Relaxed);
            }
            gate.open();
            if self.is_enough.load(Ordering::Relaxed) {
                return;
            }
        }
    }
}

/// A client of another project.
struct Reader {
    _child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    seen: Vec<SentEvent>,
}

impl Reader {
    /// The next event; `None`: it has ended.
    async fn next(&mut self) -> Option<&SentEvent> {
        let line = wait::within("an event that is read", self.lines.next_line()).await.unwrap()?;
        let event: Value = serde_json::from_str(&line).unwrap();
        let field = |name: &str| event[name].as_str().unwrap().to_owned();
        let (id, name) = (field("id"), field("event"));
        // The standard has this name for events without one.
        let name = if name == "message" { String::new() } else { name };
        self.seen.push(SentEvent { id, name, data: event["data"].clone() });
        self.seen.last()
    }

    /// Reads up to the end of this text.
    async fn until_said(&mut self, words: &str) {
        let mut text = String::new();
        while !text.ends_with(words) {
            let data = &self.next().await.expect("the task has not ended").data;
            text.push_str(data["text"].as_str().or(data["textDelta"].as_str()).unwrap_or_default());
        }
    }

    /// All that it has read when it ends.
    async fn all(mut self) -> Vec<SentEvent> {
        while self.next().await.is_some() {}
        self.seen
    }
}

fn none(test: &str) {
    skip(test, "httpx-sse is not installed; the test command installs it");
}

#[tokio::test]
async fn a_session_is_read_whole_however_often_it_is_cut() {
    const TEST: &str = "a_session_is_read_whole_however_often_it_is_cut";
    let place = Place::start(TEST).await;
    let Place { world, device, cutter, .. } = &place;
    let session = session(world, device).await;
    let path = format!("/api/sessions/{session}/stream");
    let half = place.script("cut");
    let begun = device.post(&format!("/api/sessions/{session}/chat"), &message("cut")).await;
    assert_eq!(begun.status, 202, "{begun:?}");
    // Without a cursor a stream begins with the task that works.
    let Some(mut reader) = place.reads(&path) else { return none(TEST) };
    half.cut(&mut reader, cutter).await;
    let read = reader.all().await;
    let whole = device.stream(&session, begun.json()["lastEventId"].as_str()).await.until_end().await;
    let (seqs, said) = cuts::recorded(world);
    assert_eq!(cuts::text(&read), said);
    assert_eq!(cuts::text(&whole), said);
    let told = |events: &[SentEvent]| -> Vec<(String, Value)> {
        cuts::others(events).into_iter().map(|event| (event.name.clone(), event.data.clone())).collect()
    };
    assert_eq!(told(&read), told(&whole));
    let ids: Vec<u64> = cuts::whole_ids(&read).into_iter().filter(|seq| seqs.contains(seq)).collect();
    assert_eq!(ids, seqs[..ids.len()], "each once and in order");
    assert!(read.last().unwrap().is_end());
    println!("{} cuts, {} events, {} bytes of text", cutter.cuts(), read.len(), said.len());
    assert!(cutter.cuts() >= wanted());
}

#[tokio::test]
async fn an_agent_is_started_once_however_often_its_stream_is_cut() {
    const TEST: &str = "an_agent_is_started_once_however_often_its_stream_is_cut";
    let place = Place::start(TEST).await;
    let Place { world, device, cutter, .. } = &place;
    let half = place.script("agent");
    // A name of the client's own, since it may be cut before it has read an id.
    let path = "/agent/stream?prompt=%5Bk:agent%5D+Do+it.&agentId=mine";
    let Some(mut reader) = place.reads(path) else { return none(TEST) };
    half.cut(&mut reader, cutter).await;
    // It comes back until it is told that there is nothing more.
    let read = reader.all().await;
    let mut whole = device.events(path, Some(&read[0].id)).await;
    let whole = [&read[..1], &whole.until(|chunk| chunk.data["type"] == "finish").await].concat();
    assert_eq!(agent::said(&read), agent::said(&whole));
    assert_eq!(agent::said(&read).0, cuts::recorded(world).1);
    assert_eq!(agent::started(world), 1);
    println!("{} cuts, {} chunks", cutter.cuts(), read.len());
    assert!(cutter.cuts() >= wanted());
}
