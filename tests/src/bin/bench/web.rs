//! The HTTP interface: what many readers of a stream cost, and what hostile connections cost others.

use crate::{
    model::{self, Answer, Asked, Model},
    setup::Setup,
    table::{
        Aim, Figure,
        Value::{Share, Time},
        percentile,
    },
};
use abide_tests::{http::HttpClient, vitals::Vitals};
use std::{
    io::{self, Read as _, Write as _},
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Clients that read one stream.
const READERS: usize = 64;
/// The tokens of its reply, which lasts ten seconds.
const TOKENS: usize = 2_000;
const APART: Duration = Duration::from_millis(5);
/// Connections of clients that mean harm.
const HOSTILE: usize = 1_000;
/// How often those that were cut come back.
const AGAIN: Duration = Duration::from_millis(250);
const RUNS: usize = 300;

pub(crate) async fn figures() -> Vec<Figure> {
    let setup = Setup::with(Model::start(script)).await;
    let cli = setup.daemon.cli();
    let token = cli.ok(&["token", "add", "bench"]).await;
    let opened = cli.json(&["serve", "--url", "http://127.0.0.1:0", "--detach"]).await;
    let device = HttpClient::at(opened["urls"][0].as_str().expect("a URL"), Some(token.trim()));
    let alone = streamed(&setup, &device, 0).await;
    let read = streamed(&setup, &device, READERS).await;
    let mut figures = vec![
        Figure::new(
            format!("{READERS} clients of a stream of 200 tokens a second: processor, of a core; floor none"),
            Share(read),
        )
        .floor(Share(alone))
        .aim(Aim::AtMost(Share(0.5))),
    ];
    let quiet = listed(&setup).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let (ended, authority) = (Arc::clone(&is_over), device.authority);
    let hostile = thread::spawn(move || harm(&authority, &ended));
    let beside = listed(&setup).await;
    is_over.store(true, Ordering::Relaxed);
    let connections = tokio::task::block_in_place(|| hostile.join().expect("the hostile clients"));
    eprintln!("{connections} hostile connections were made");
    let what = format!("`abide ps` beside {HOSTILE} hostile connections; floor without");
    for (percent, name) in [(50, "median"), (99, "p99")] {
        let figure = Figure::new(format!("{what}, {name}"), Time(percentile(&beside, percent)))
            .floor(Time(percentile(&quiet, percent)));
        figures.push(figure.aim(Aim::TimesFloor(2.0)));
    }
    figures
}

fn script(asked: &Asked<'_>) -> Answer {
    match asked.number {
        0 => Answer::Stream {
            deltas: TOKENS,
            apart: APART,
            text: |n| format!("{n:05}"),
            end: model::end_of_text(),
        },
        number => model::done(number),
    }
}

/// The daemon's processor time while a reply is streamed to so many clients, as a share of a core.
async fn streamed(setup: &Setup, device: &HttpClient, readers: usize) -> f64 {
    let task = setup.begin(&format!("stream-{readers}")).await;
    let (began, before) = (Instant::now(), Vitals::of(setup.daemon.pid()).cpu_ticks);
    let request = format!(
        "GET /api/sessions/{}/stream HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        task.conversation_id,
        device.authority,
        device.token.as_deref().unwrap_or_default()
    );
    let reading: Vec<_> = (0..readers)
        .map(|_| {
            let mut stream = TcpStream::connect(&device.authority).expect("the door is open");
            stream.write_all(request.as_bytes()).expect("the request is sent");
            thread::spawn(move || read_to_end(stream))
        })
        .collect();
    tokio::task::block_in_place(|| reading.into_iter().for_each(|reader| reader.join().expect("a reader")));
    setup.idle().await;
    let ticks = Vitals::of(setup.daemon.pid()).cpu_ticks - before;
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let seconds = ticks as f64 / 100.0;
    seconds / began.elapsed().as_secs_f64()
}

/// Reads up to the end of the task.
fn read_to_end(mut stream: TcpStream) {
    const END: &[u8] = b"\"final\":true";
    let (mut buffer, mut kept) = (vec![0; 64 * 1024], 0);
    loop {
        let read = stream.read(&mut buffer[kept..]).expect("the daemon sends");
        assert!(read > 0, "the stream of a client that reads was closed");
        let length = kept + read;
        if buffer[..length].windows(END.len()).any(|window| window == END) {
            return;
        }
        // The mark may be split between two reads.
        kept = length.min(END.len() - 1);
        buffer.copy_within(length - kept..length, 0);
    }
}

/// How long `abide ps` takes, the whole process.
async fn listed(setup: &Setup) -> Vec<Duration> {
    let cli = setup.daemon.cli();
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let began = Instant::now();
        cli.ok(&["ps"]).await;
        times.push(began.elapsed());
    }
    times
}

/// Keeps hostile connections open; whoever was cut comes back. Returns how many were made.
fn harm(authority: &str, is_over: &AtomicBool) -> usize {
    let ask = format!("GET / HTTP/1.1\r\nHost: {authority}\r\n\r\n").repeat(50);
    let half = format!("GET /health HTTP/1.1\r\nHost: {authority}\r\nX-");
    // Requests that never end, whose answers are not read, that are none, and nothing at all.
    let manners = [half.as_bytes(), ask.as_bytes(), b"\x16\x03\x01\x02\x00\x01\xff\xfe", b""];
    let mut open: Vec<Option<TcpStream>> = (0..HOSTILE).map(|_| None).collect();
    let mut made = 0;
    while !is_over.load(Ordering::Relaxed) {
        for (slot, manner) in open.iter_mut().zip(manners.iter().cycle()) {
            if slot.as_ref().is_some_and(is_waiting) {
                continue;
            }
            *slot = TcpStream::connect(authority).ok();
            if let Some(stream) = slot {
                made += 1;
                drop(stream.write_all(manner));
                drop(stream.set_nonblocking(true));
            }
        }
        #[expect(clippy::disallowed_methods, reason = "their pace")]
        thread::sleep(AGAIN);
    }
    made
}

/// It is open, and was told nothing.
fn is_waiting(stream: &TcpStream) -> bool {
    let told = stream.peek(&mut [0]);
    matches!(told, Err(e) if e.kind() == io::ErrorKind::WouldBlock)
}
