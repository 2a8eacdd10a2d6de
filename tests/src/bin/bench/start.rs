//! Times from the start of a process until it answers.

use crate::{
    floor,
    model::{self, Model},
    place::{self, Place},
    table::{Aim, Figure, Value::Time, median, percentile},
};
use abide_client::protocol::codec::Codec;
use abide_tests::daemon::{Config, TestDaemon};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
    path::Path,
    time::{Duration, Instant},
};

const RUNS: usize = 30;
pub(crate) async fn figures() -> Vec<Figure> {
    let mut figures = daemon().await;
    figures.append(&mut command_line().await);
    figures
}

async fn daemon() -> Vec<Figure> {
    let (mut first, mut again, mut request, mut floor) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        floor.push(floor::process(&abide_tests::daemon::program(), &["--version"]));
        let mut fresh = TestDaemon::new(&Config::new());
        first.push(answers(&mut fresh));
        fresh.kill();
        again.push(answers(&mut fresh));
    }
    let mut place = Place::with(Model::start(|asked| model::done(asked.number))).await;
    for run in 0..RUNS {
        place.daemon.kill();
        let began = Instant::now();
        answers(&mut place.daemon);
        let client = place.daemon.client().await;
        let key = format!("first-{run}");
        place::begin(&client, place.task(&key)).await;
        request.push(tokio::task::block_in_place(|| place.model.asked(&key, 1)) - began);
        place.client = client;
        place.settled().await;
    }
    let floor = Time(median(&floor));
    vec![
        Figure::new("start to `hello` answered", Time(median(&again)))
            .floor(floor)
            .aim(Aim::AtMost(Time(Duration::from_millis(20)))),
        Figure::new("start to `hello` answered, p95", Time(percentile(&again, 95))),
        Figure::new("the same, and the database is made", Time(median(&first))).floor(floor),
        Figure::new("start to the first model request", Time(median(&request))).floor(floor),
    ]
}

/// The time from the start of the process until it has answered `hello`.
fn answers(daemon: &mut TestDaemon) -> Duration {
    let socket = daemon.socket();
    let began = Instant::now();
    daemon.launch();
    while !says_hello(&socket) {
        // An attempt takes some 10 µs; a longer pause would add to the daemon's time.
        std::thread::yield_now();
    }
    began.elapsed()
}

fn says_hello(socket: &Path) -> bool {
    let Ok(mut stream) = UnixStream::connect(socket) else { return false };
    let mut answer = String::new();
    stream.write_all(&place::hello(Codec::Json)).is_ok()
        && BufReader::new(stream).read_line(&mut answer).is_ok()
        && answer.contains("\"result\"")
}

async fn command_line() -> Vec<Figure> {
    let place = Place::with(Model::start(|asked| model::ask(asked.number))).await;
    for task in 0..10 {
        place.begin(&format!("ps-{task}")).await;
    }
    place.settled().await;
    let cli = place.daemon.cli();
    let (mut ps, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..3 * RUNS {
        for (arguments, times) in [("ps", &mut ps), ("--version", &mut floor)] {
            let began = Instant::now();
            cli.ok(&[arguments]).await;
            times.push(began.elapsed());
        }
    }
    vec![
        Figure::new("`abide ps`, the whole process", Time(median(&ps)))
            .floor(Time(median(&floor)))
            .aim(Aim::AtMost(Time(Duration::from_millis(10)))),
        Figure::new("`abide ps`, p95", Time(percentile(&ps, 95))).floor(Time(percentile(&floor, 95))),
    ]
}
