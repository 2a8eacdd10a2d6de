//! Measures the window: start, memory, frames, idle cost, each beside a plain iced window with 1,000 rows.
//!
//! `cargo build --release --workspace --bins --examples && target/release/examples/window`, on a machine with
//! Xvfb and the rest that `abide_tests::screen` names. Arguments out of
//! `floor 0 1000 100000 streaming tree giant` select single measurements. Nothing fails for being slow.

#![expect(clippy::print_stdout, clippy::expect_used, reason = "it prints figures, and fails as tests do")]

mod giant;
mod tree;

use abide_client::protocol::{
    CallId, ConversationId, RecordId, Timestamp,
    memory::MemoryUse,
    record::{ConversationCreated, NewRecord, RecordBody, Update, UserMessage},
    task::{Mode, Status},
};
use abide_store::{Append, Options, Store};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{Gate, ModelServer, Turn},
    screen::{Launched, Screen, Window},
    wait::within,
    world::World,
};
use std::{
    env, fs,
    time::{Duration, Instant},
};
use tokio::time::{interval, sleep};
use uuid::Uuid;

const IDLE: Duration = Duration::from_secs(10);
const TOKENS: usize = 2000;
const A_TOKEN: Duration = Duration::from_millis(5);
const RUNS: usize = 11;
/// A search has answered when nothing was built for so long.
const REST: Duration = Duration::from_secs(3);
/// A plain iced window with 1,000 rows.
const FLOOR: &str = "examples/floor";
/// Clicks of the wheel.
const WHEEL: usize = 300;

#[tokio::main]
async fn main() {
    let Some(screen) = Screen::start("the figures of the window").await else { return };
    let asked: Vec<String> = env::args().skip(1).collect();
    let is_asked = |group: &str| asked.is_empty() || asked.iter().any(|a| a == group);
    if is_asked("floor") {
        let mut quiet = TestDaemon::new(&Config::new());
        trace(&mut quiet);
        measure(&screen, "floor: 1,000 rows, no daemon", FLOOR, &quiet).await;
    }
    for messages in [0, 1_000, 100_000] {
        if !is_asked(&messages.to_string()) {
            continue;
        }
        let mut daemon = TestDaemon::new(&Config::new());
        trace(&mut daemon);
        if messages > 0 {
            fill(&daemon, &format!("{messages} messages"), said(messages)).await;
        }
        daemon.up().await;
        at_rest(&daemon).await;
        measure(&screen, &format!("window: {messages} messages"), "abide-gui", &daemon).await;
        if messages > 0 {
            find(&screen, &daemon, messages).await;
        }
    }
    if is_asked("streaming") {
        streaming(&screen).await;
    }
    if is_asked("tree") {
        tree::measure(&screen).await;
    }
    if is_asked("giant") {
        giant::measure(&screen).await;
    }
}

fn trace(daemon: &mut TestDaemon) {
    daemon.set_env("ABIDE_LOG", "abide_gui::frame=trace");
}

/// So many messages, those of a person and of an agent by turns.
#[expect(clippy::disallowed_methods, reason = "it plays the daemon, and has no mint")]
fn said(messages: u64) -> impl Iterator<Item = RecordBody> {
    (1..=messages).map(|n| match n % 2 {
        1 => RecordBody::UserMessage(UserMessage { text: format!("Message {n}: what about `src/{n}.rs`?") }),
        _ => RecordBody::Update(Update {
            call_id: CallId(Uuid::now_v7()),
            text: format!(
                "Message {n}. I have **read** it, and two things stand out:\n\n- the clock is read twice,\n- \
                 nothing says so.\n\n```rust\nlet now = clock.now(); // {n}\n```"
            ),
        }),
    })
}

/// A conversation with these messages, as the daemon would have stored it, and a window's state that shows
/// it.
#[expect(clippy::disallowed_methods, reason = "it plays the daemon, and has no mint")]
async fn fill(daemon: &TestDaemon, title: &str, said: impl IntoIterator<Item = RecordBody>) {
    let home = daemon.home();
    let path = home.database();
    let store = Store::open(Options { path, reserve_bytes: 0, readers: 1 }, Box::new(|_| {}));
    let store = store.expect("the store opens");
    let conversation_id = ConversationId(Uuid::now_v7());
    let now =
        i64::try_from(conversation_id.0.get_timestamp().map_or(0, |at| at.to_unix().0)).unwrap_or_default();
    let record =
        |body| NewRecord { id: RecordId(Uuid::now_v7()), task_id: None, at: Timestamp(now * 1000), body };
    let begun = RecordBody::ConversationCreated(ConversationCreated {
        title: title.to_owned(),
        workspace: daemon.workspace().display().to_string(),
        mode: Some(Mode::Agent),
        model: None,
        persona: None,
        memory: MemoryUse::Normal,
    });
    let mut all = std::iter::once(begun).chain(said).map(record).peekable();
    while all.peek().is_some() {
        let records = all.by_ref().take(1000).collect();
        let append = Append { conversation_id, records, tasks: Vec::new(), urgent: false };
        store.append(append).await.expect("the records are stored");
    }
    let folder = home.state_dir.join("gui");
    fs::create_dir_all(&folder).expect("the window's folder");
    let settings = format!("{{\"conversation\":\"{conversation_id}\"}}");
    fs::write(folder.join("settings.json"), settings).expect("the window's settings");
}

/// Measures start, memory, idle cost and scrolling of a window.
async fn measure(screen: &Screen, what: &str, program: &str, daemon: &TestDaemon) {
    println!("== {what}");
    // By turns with the floor, since the machine may be slower in one minute than in another.
    let (mut starts, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        floors.push(start(screen, FLOOR, daemon).await);
        starts.push(start(screen, program, daemon).await);
    }
    show("from start to the first frame", &mut starts);
    show("the same of the floor, by turns", &mut floors);
    println!("  ratio of the medians: {:.2}", median(&starts).as_secs_f64() / median(&floors).as_secs_f64());
    let window = screen.launch(program, daemon).window().await;
    // Wait until nothing more is drawn: everything has arrived.
    settled(&window).await;
    println!("  memory: {:.1} MiB PSS", pss(window.pid()));
    let (frames, processor) = (window.logged("drawn"), ticks(window.pid()));
    sleep(IDLE).await;
    println!(
        "  {} idle seconds: {} frames, {} ms of processor",
        IDLE.as_secs(),
        window.logged("drawn") - frames,
        ticks(window.pid()) - processor
    );
    let before = window.log().len();
    let processor = ticks(window.pid());
    window.wheel_up(WHEEL).await;
    let processor = ticks(window.pid()) - processor;
    settled(&window).await;
    frames_since(&window, before, processor, &format!("{WHEEL} turns of the wheel, up"));
    println!("  memory after that: {:.1} MiB PSS", pss(window.pid()));
    window.kill().await;
}

/// Measures the time from the Enter in the search to the frame that shows the message, far back.
async fn find(screen: &Screen, daemon: &TestDaemon, messages: u64) {
    let window = screen.open(daemon).await;
    window.press(&["ctrl+k"]).await;
    settled_view(&window, REST).await;
    window.type_text(&format!("src {}", messages / 100 + 1)).await;
    // The first search builds the index.
    settled_view(&window, REST).await;
    let begun = Instant::now();
    window.press(&["Return"]).await;
    let took = settled_view(&window, REST).await.saturating_duration_since(begun);
    println!("  to a message {} back that was found: {took:.1?}", messages - messages / 100 - 1);
    println!("  memory after that: {:.1} MiB PSS", pss(window.pid()));
    window.kill().await;
}

/// Waits until no view has been built for so long; returns when the last one was.
async fn settled_view(window: &Window<'_>, quiet: Duration) -> Instant {
    let (mut views, mut last) = (window.logged("built"), Instant::now());
    while last.elapsed() < quiet {
        sleep(Duration::from_millis(10)).await;
        let now = window.logged("built");
        if now != views {
            (views, last) = (now, Instant::now());
        }
    }
    last
}

async fn streaming(screen: &Screen) {
    println!("== streaming: {TOKENS} tokens, one each {A_TOKEN:?}");
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model));
    trace(&mut daemon);
    let world = World::of(model, daemon).await;
    let gates: Vec<Gate> = (0..TOKENS).map(|_| Gate::new("a token")).collect();
    let words = ["It ", "reads ", "the `clock` ", "twice, ", "and **that** ", "is ", "wrong.\n\n"];
    let reply = gates.iter().zip(words.iter().cycle());
    let reply = reply.fold(Turn::new(), |turn, (gate, word)| turn.gate(gate).text(*word));
    let task = world.run("stream", [reply.call("list", serde_json::json!({})), Turn::done("Done.")]).await;
    let window = screen.open(&world.daemon).await;
    window.press(&["ctrl+Down"]).await;
    settled_but_for_the_mark(&world, task).await;
    let (before, processor) = (window.log().len(), ticks(window.pid()));
    let begun = Instant::now();
    let mut tick = interval(A_TOKEN);
    for gate in &gates {
        tick.tick().await;
        gate.open();
    }
    let took = begun.elapsed();
    let processor = ticks(window.pid()) - processor;
    frames_since(&window, before, processor, &format!("{:.1} s of streaming", took.as_secs_f64()));
    let frames = window.log()[before..].matches("drawn").count();
    println!("  redraws: {:.1} a second", frames as f64 / took.as_secs_f64());
    println!("  processor: {:.0} % of one", processor as f64 / took.as_secs_f64() / 10.0);
    println!("  memory: {:.1} MiB PSS", pss(window.pid()));
    world.wait_end(task).await;
}

async fn settled_but_for_the_mark(world: &World, task: abide_client::protocol::method::task::StartTaskReply) {
    world.wait_status(task, Status::Thinking).await;
    sleep(Duration::from_secs(1)).await;
}

/// Waits until the daemon has done nothing for a second: it checks a new database after its start.
async fn at_rest(daemon: &TestDaemon) {
    let mut spent = None;
    loop {
        let now = ticks(daemon.pid());
        if spent.replace(now) == Some(now) {
            return;
        }
        sleep(Duration::from_secs(1)).await;
    }
}

/// From the start of the program to its first frame.
async fn start(screen: &Screen, program: &str, daemon: &TestDaemon) -> Duration {
    let begun = Instant::now();
    let launched = screen.launch(program, daemon);
    first_frame(&launched).await;
    let took = begun.elapsed();
    launched.kill().await;
    took
}

async fn first_frame(launched: &Launched<'_>) {
    let drawn = async {
        while !launched.log().contains("drawn") {
            sleep(Duration::from_millis(1)).await;
        }
    };
    within("the first frame", drawn).await;
}

/// Waits until nothing is drawn for a second.
async fn settled(window: &Window<'_>) {
    loop {
        let frames = window.logged("drawn");
        sleep(Duration::from_secs(1)).await;
        if window.logged("drawn") == frames {
            return;
        }
    }
}

/// The log from this length on.
fn log_of(window: &Window<'_>, from: usize) -> String {
    window.log().get(from..).unwrap_or_default().to_owned()
}

/// Prints the frames drawn since the log had this length.
fn frames_since(window: &Window<'_>, from: usize, processor: u64, what: &str) {
    let log = log_of(window, from);
    let mut frames = Vec::new();
    let mut built = 0;
    for line in log.lines() {
        let us =
            line.rsplit_once("us=").and_then(|(_, us)| us.trim().parse::<u64>().ok()).unwrap_or_default();
        if line.contains("built") {
            built += us;
        } else if line.contains("drawn") {
            frames.push(Duration::from_micros(built + us));
            built = 0;
        }
    }
    let all = frames.len().max(1) as u64;
    show(&format!("{what}: a frame, built, laid out and drawn"), &mut frames);
    println!("  the same with pixels and all: {:.1} ms of processor a frame", processor as f64 / all as f64);
}

fn show(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let most = times.last().copied().unwrap_or_default();
    let (half, p95) = (median(times), at(times, 95));
    println!("  {what}: median {half:.1?}, p95 {p95:.1?}, most {most:.1?} ({} times)", times.len());
}

/// Of sorted times.
fn median(times: &[Duration]) -> Duration {
    at(times, 50)
}

fn at(times: &[Duration], percent: usize) -> Duration {
    times.get(times.len() * percent / 100).copied().unwrap_or_default()
}

/// Proportional set size in MiB.
fn pss(pid: u32) -> f64 {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kib: f64 = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default();
    kib / 1024.0
}

/// Processor time of a process, in ms, to the nearest 10.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10
}
