//! How long the daemon takes from its start to its first reply, and `abide` from its start to its end.

use crate::{
    floor,
    model::{self, Model},
    setup::{self, Setup},
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
        first.push(start_to_hello(&mut fresh));
        fresh.kill();
        again.push(start_to_hello(&mut fresh));
    }
    let mut setup = Setup::with(Model::start(|asked| model::done(asked.number))).await;
    for run in 0..RUNS {
        setup.daemon.kill();
        let began = Instant::now();
        start_to_hello(&mut setup.daemon);
        let client = setup.daemon.client().await;
        let key = format!("first-{run}");
        setup::begin(&client, setup.task(&key)).await;
        request.push(tokio::task::block_in_place(|| setup.model.asked(&key, 1)) - began);
        setup.client = client;
        setup.idle().await;
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
fn start_to_hello(daemon: &mut TestDaemon) -> Duration {
    let socket = daemon.socket();
    let began = Instant::now();
    daemon.launch();
    while !answers_hello(&socket) {
        // An attempt takes some 10 µs; a longer pause would add to the measured time.
        std::thread::yield_now();
    }
    began.elapsed()
}

fn answers_hello(socket: &Path) -> bool {
    let Ok(mut stream) = UnixStream::connect(socket) else { return false };
    let mut answer = String::new();
    stream.write_all(&setup::hello(Codec::Json)).is_ok()
        && BufReader::new(stream).read_line(&mut answer).is_ok()
        && answer.contains("\"result\"")
}

async fn command_line() -> Vec<Figure> {
    let setup = Setup::with(Model::start(|asked| model::ask(asked.number))).await;
    for task in 0..10 {
        setup.begin(&format!("ps-{task}")).await;
    }
    setup.idle().await;
    let cli = setup.daemon.cli();
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
