//! kill -9 many times at any moment, with 64 trees of tasks at work, two people who answer them, and
//! witnesses outside the database.

use abide_fail_point::{Point, VARIABLE};
use abide_tests::{
    audit::audit,
    crowd::{Crowd, Ground},
    daemon::{Config, TestDaemon},
    ledger,
    model_server::ModelServer,
    seed::{Seed, spread, times},
    tap::Tap,
    wait,
};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

/// Root tasks at work at any moment. Most of them have sub-tasks, by call and by code.
const TASKS: usize = 64;

/// In a bounded run. Two in five are at a fail point, so that every point is hit.
const KILLS: usize = 50;

/// How the daemon dies.
#[derive(Debug, Clone, Copy)]
enum Death {
    /// So many ms after its process was started.
    Starting(u64),
    /// So many ms after so many more records.
    AtWork { records: usize, ms: u64 },
    /// When it passes this point for the n-th time.
    Point(Point, usize),
}

/// All points that it passes while it works, in turn; between them random moments.
fn deaths(seed: &mut Seed, kills: usize) -> Vec<Death> {
    let points = Point::ALL.into_iter().filter(|point| is_passed_at_work(*point)).collect::<Vec<_>>();
    let mut turn = 0;
    let mut death = |n: usize| match n % 5 {
        0 => Death::Starting(seed.below(150) as u64),
        1 | 3 => Death::AtWork { records: 1 + seed.below(150), ms: seed.below(15) as u64 },
        _ => {
            let point = points[turn % points.len()];
            // First at the first pass, later at any.
            let most = if turn < points.len() { 1 } else { often(point) };
            turn += 1;
            Death::Point(point, 1 + seed.below(most))
        }
    };
    (0..kills).map(&mut death).collect()
}

/// Whether the daemon passes the point while it works, and nobody undoes anything, wants a worktree or
/// installs another program.
const fn is_passed_at_work(point: Point) -> bool {
    !is_creation(point)
        && !is_of_undo(point)
        && !matches!(point, Point::WorktreeNoted | Point::WorktreeMade | Point::HandOver)
}

/// Whether the point is passed only if there is no database yet.
const fn is_creation(point: Point) -> bool {
    matches!(point, Point::DatabaseMade | Point::DatabaseNamed | Point::Migrating)
}

/// Whether the point is passed only if there are checkpoints, and something is taken back. Nobody does that
/// here.
const fn is_of_undo(point: Point) -> bool {
    matches!(
        point,
        Point::FilesSaved | Point::FilesReferred | Point::UndoBegun | Point::FileRestored | Point::UndoDone
    )
}

/// How often a point is passed in a second or two, at least.
const fn often(point: Point) -> usize {
    match point {
        Point::WalWriteBack | Point::WalWrittenBack => 2,
        Point::EditWritten | Point::EditDone | Point::OutputKept => 10,
        Point::Acknowledge => 12,
        _ => 40,
    }
}

#[derive(Default)]
struct Figures {
    answered: Vec<Duration>,
    resumed: Vec<Duration>,
    at_points: BTreeMap<Point, usize>,
    shown: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_a_storm_of_kills_nothing_is_lost_and_nothing_runs_twice() {
    let seed = Seed::drawn("storm of kills");
    let kills = times("ABIDE_TEST_KILLS", KILLS);
    let model = Arc::new(ModelServer::start().await);
    let config = Config::with(&model)
        .provider("many", "openai-chat", &model.openai_url(), "max_parallel = 256")
        .default_model("many/scripted-1")
        .task("max_children = 32");
    let mut daemon = TestDaemon::new(&config);
    let ground = Ground::of(&daemon, &model, seed.of("crowd"));
    let witness = ground.witness.clone();
    let begun = Instant::now();
    daemon.launch();
    let mut taps = [Tap::open(daemon.home()), Tap::open(daemon.home())];
    let mut crowd = Crowd::start(ground, TASKS);
    wait::wait_until("the first records", async || taps[0].len() > 200).await;
    daemon.kill();

    let mut figures = Figures::default();
    let copies = tempfile::tempdir().unwrap();
    for (number, death) in deaths(&mut seed.of("deaths"), kills - 1).into_iter().enumerate() {
        let image = ledger::copy(&daemon.home(), copies.path());
        for tap in &mut taps {
            figures.shown += tap.assert_matches(&image);
        }
        crowd.assert_running();
        live_and_die(&mut daemon, &taps[0], death, &image, &mut figures)
            .await
            .unwrap_or_else(|why| panic!("life {number}, which was to end at {death:?}: {why}"));
    }

    daemon.up().await;
    crowd.finish().await;
    let database = daemon.home().database();
    let last = ledger::last(&database);
    for tap in &mut taps {
        // A checkpoint may follow the end of its task.
        wait::wait_until("a client to be told everything", async || tap.cursor() >= last).await;
        figures.shown += tap.assert_matches(&database);
    }
    let account = audit(&ledger::read(&daemon.home()), &crowd.acks(), &witness, &model);
    drop(crowd);
    assert!(daemon.stop().await.success());
    assert_eq!(
        leftovers(&daemon.workspace(), ".abide-"),
        Vec::<String>::new(),
        "half-made edits are cleaned up"
    );
    assert_eq!(
        leftovers(&daemon.home().spool_dir(), ""),
        Vec::<String>::new(),
        "kept output of calls that have their results"
    );
    println!("{kills} kills in {} s: {account}", begun.elapsed().as_secs());
    println!("at points: {:?}", figures.at_points);
    println!("shown and found on disk: {} records", figures.shown);
    println!("until the socket answers: {}", spread(figures.answered));
    println!("until all tasks go on: {}", spread(figures.resumed));
    if kills >= KILLS {
        for point in Point::ALL.into_iter().filter(|point| is_passed_at_work(*point)) {
            assert!(figures.at_points.contains_key(&point), "no life ended at {point:?}");
        }
    }
}

async fn live_and_die(
    daemon: &mut TestDaemon,
    tap: &Tap,
    death: Death,
    image: &Path,
    figures: &mut Figures,
) -> Result<(), String> {
    let (at_work, before) = (ledger::at_work(image), ledger::last(image));
    if let Death::Point(point, count) = death {
        daemon.set_env_once(VARIABLE, &format!("{}:{count}", point.name()));
    }
    let launched = Instant::now();
    daemon.launch();
    if let Death::Starting(ms) = death {
        // The moment is random, not an event to wait for.
        tokio::time::sleep(Duration::from_millis(ms)).await;
        daemon.kill();
        return Ok(());
    }
    if !daemon.answers().await {
        return died_at(death, figures);
    }
    figures.answered.push(launched.elapsed());
    let database = daemon.home().database();
    let mut has_died = false;
    wait::wait_until("every task that was at work to go on", async || {
        has_died = daemon.has_ended();
        has_died || ledger::restarted(&database, before).is_superset(&at_work)
    })
    .await;
    if has_died {
        return died_at(death, figures);
    }
    figures.resumed.push(launched.elapsed());
    match death {
        Death::Starting(_) => unreachable!("it is dead"),
        Death::AtWork { records, ms } => {
            let enough = tap.len() + records;
            wait::wait_until("some more records", async || tap.len() >= enough).await;
            tokio::time::sleep(Duration::from_millis(ms)).await;
            daemon.kill();
            Ok(())
        }
        Death::Point(..) => {
            wait::wait_until("the daemon to come to the point", async || daemon.has_ended()).await;
            died_at(death, figures)
        }
    }
}

fn died_at(death: Death, figures: &mut Figures) -> Result<(), String> {
    let Death::Point(point, _) = death else { return Err("it ended by itself".to_owned()) };
    *figures.at_points.entry(point).or_default() += 1;
    Ok(())
}

/// Files of that folder whose names begin with this.
fn leftovers(folder: &Path, beginning: &str) -> Vec<String> {
    let names =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(beginning)).collect()
}
