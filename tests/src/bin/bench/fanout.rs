//! Live output: its rate to many clients, and its latency to one client while another does not read.

use crate::{
    model::{self, Answer, Asked, Model},
    setup::{self, Setup},
    table::{
        Aim, Figure,
        Value::{Rate, Time},
        median, percentile,
    },
};
use abide_client::protocol::{
    codec::Codec,
    method::{
        Request,
        subscription::{Scope, SubscribeParams},
    },
};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::net::UnixStream,
    path::Path,
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

/// Deltas of a reply that streams as fast as it can, of 5 characters each, as models send them.
const DELTAS: usize = 100_000;
/// Deltas of a paced reply, each of which has the time at which it was sent.
const STAMPED: usize = 500;
/// The time between two deltas of a paced reply.
const APART: Duration = Duration::from_millis(5);
/// How long the daemon collects deltas before it sends them.
const COLLECTED: Duration = Duration::from_millis(30);
/// The end marks of a reply that streams as fast as it can, and of one that is paced.
const ENDS: (&str, &str) = ("<over>", "<done>");

static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

pub(crate) async fn figures() -> Vec<Figure> {
    let mut figures = Vec::new();
    let setup = Setup::with(Model::start(script)).await;
    let mut number = 0;
    for codec in [Codec::Binary, Codec::Json] {
        for clients in [1, 8, 64] {
            number += 1;
            figures.push(throughput(&setup, &format!("fast-{number}"), codec, clients).await);
        }
    }
    let alone = latencies(&setup, "slow-1", false).await;
    let beside = latencies(&setup, "slow-2", true).await;
    figures.push(
        Figure::new("a delta's way to a client, median", Time(median(&alone))).floor(Time(COLLECTED / 2)),
    );
    figures.push(
        Figure::new("its p99 while another client is stuck, beside alone", Time(percentile(&beside, 99)))
            .floor(Time(percentile(&alone, 99)))
            .aim(Aim::AtMost(Time(Duration::from_millis(50)))),
    );
    figures
}

fn script(asked: &Asked<'_>) -> Answer {
    match (asked.number, asked.key.starts_with("fast")) {
        (0, true) => stream(DELTAS, Duration::ZERO, |n| format!("{n:05}"), ENDS.0),
        (0, false) => {
            stream(STAMPED, APART, |_| format!("@{:010};", BEGINNING.elapsed().as_micros()), ENDS.1)
        }
        (number, _) => model::done(number),
    }
}

fn stream(deltas: usize, apart: Duration, text: fn(usize) -> String, end: &str) -> Answer {
    let end = [model::text(end), model::end_of_text()].concat();
    Answer::Stream { deltas, apart, text, end }
}

/// Deltas per second to all clients together. The floor writes the same bytes to as many sockets.
async fn throughput(setup: &Setup, key: &str, codec: Codec, clients: usize) -> Figure {
    let readers: Vec<_> = (0..clients)
        .map(|_| {
            let stream = subscribe(&setup.daemon.socket(), codec);
            thread::spawn(move || read_to_end(stream, ENDS.0, |_| ()))
        })
        .collect();
    let began = Instant::now();
    setup.begin(key).await;
    let (took, bytes) = tokio::task::block_in_place(|| {
        let read: Vec<usize> = readers.into_iter().map(|r| r.join().expect("a client")).collect();
        (began.elapsed(), read.iter().sum::<usize>() / clients)
    });
    setup.idle().await;
    let floor = write(clients, bytes);
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let rate = |took: Duration| Rate((DELTAS * clients) as f64 / took.as_secs_f64());
    let plural = if clients == 1 { "client" } else { "clients" };
    Figure::new(format!("deltas shown, {clients} {plural}, {}", codec.name()), rate(took)).floor(rate(floor))
}

/// Writes `bytes` to each of `clients` sockets, in pieces of the daemon's size.
fn write(clients: usize, bytes: usize) -> Duration {
    let pairs: Vec<_> = (0..clients).map(|_| UnixStream::pair().expect("a pair")).collect();
    let (mut ours, theirs): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let began = Instant::now();
    let readers: Vec<_> = theirs
        .into_iter()
        .map(|mut stream| thread::spawn(move || drop(std::io::copy(&mut stream, &mut std::io::sink()))))
        .collect();
    let piece = vec![b'x'; 64 * 1024];
    let mut left = bytes;
    while left > 0 {
        let size = left.min(piece.len());
        ours.iter_mut().for_each(|stream| stream.write_all(&piece[..size]).expect("a socket"));
        left -= size;
    }
    drop(ours);
    readers.into_iter().for_each(|reader| reader.join().expect("a reader"));
    began.elapsed()
}

/// The latency of each delta of a paced reply. With `with_stuck`, another subscribed client does not read.
async fn latencies(setup: &Setup, key: &str, with_stuck: bool) -> Vec<Duration> {
    let socket = setup.daemon.socket();
    let stuck: Option<UnixStream> = with_stuck.then(|| subscribe(&socket, Codec::Binary));
    if with_stuck {
        // Output for the stuck client to block on.
        setup.begin(&format!("fast-{key}")).await;
        setup.idle().await;
    }
    let stream = subscribe(&socket, Codec::Binary);
    let reader = thread::spawn(move || {
        let mut times = Vec::new();
        read_to_end(stream, ENDS.1, |text| {
            let now = BEGINNING.elapsed();
            times.extend(stamps(text).map(|sent| now.saturating_sub(sent)));
        });
        times
    });
    LazyLock::force(&BEGINNING);
    setup.begin(key).await;
    let times = tokio::task::block_in_place(|| reader.join().expect("a client"));
    setup.idle().await;
    drop(stuck);
    times
}

fn stamps(text: &[u8]) -> impl Iterator<Item = Duration> {
    text.split(|b| *b == b'@').skip(1).filter_map(|stamp| {
        let digits = std::str::from_utf8(stamp.get(..10)?).ok()?;
        (stamp.get(10) == Some(&b';')).then(|| digits.parse().ok().map(Duration::from_micros))?
    })
}

/// A connection subscribed to everything, as raw bytes.
fn subscribe(socket: &Path, codec: Codec) -> UnixStream {
    let mut stream = UnixStream::connect(socket).expect("the daemon listens");
    stream.write_all(&setup::hello(codec)).expect("the daemon listens");
    let mut answer = String::new();
    BufReader::with_capacity(1, &stream).read_line(&mut answer).expect("the daemon answers");
    let request = Request::Subscribe(SubscribeParams { scope: Scope::All, since: None });
    let mut request = codec.encode_request(1, &request).expect("a request");
    if codec == Codec::Binary {
        let length = u32::try_from(request.len()).expect("a short request");
        request.splice(..0, length.to_be_bytes());
    }
    stream.write_all(&request).expect("the daemon listens");
    // When the reply begins to come, the subscription is active.
    let mut first = [0];
    stream.read_exact(&mut first).expect("the daemon answers");
    stream
}

/// Reads until the reply's end mark, and returns the number of bytes. `each` gets the bytes before the mark.
fn read_to_end(mut stream: UnixStream, end: &str, mut each: impl FnMut(&[u8])) -> usize {
    let (mut total, mut buffer, mut kept) = (0, vec![0; 256 * 1024], 0);
    loop {
        let read = stream.read(&mut buffer[kept..]).expect("the daemon sends");
        assert!(read > 0, "the daemon closed the connection of a client that reads");
        total += read;
        let length = kept + read;
        let over = buffer[..length].windows(end.len()).position(|w| w == end.as_bytes());
        each(&buffer[..over.unwrap_or(length)]);
        if over.is_some() {
            return total;
        }
        // The end mark may be split between two reads.
        kept = length.min(end.len() - 1);
        buffer.copy_within(length - kept..length, 0);
    }
}
