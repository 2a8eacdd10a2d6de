//! A short soak: under steady work, descriptors, threads and memory do not grow; and when all tasks wait,
//! nothing happens at all.

use abide_client::protocol::{
    method::{self, daemon::StatusParams},
    task::Status,
};
use abide_tests::{
    audit::audit,
    crowd::{Crowd, Ground},
    daemon::{Config, TestDaemon},
    ledger,
    model_server::{ModelServer, Turn},
    seed::{Seed, times},
    vitals::Vitals,
    wait,
    world::World,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const TASKS: usize = 32;
const WAITING: usize = 64;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn descriptors_and_threads_do_not_grow() {
    let seed = Seed::drawn("soak");
    let seconds = times("ABIDE_TEST_SOAK_SECS", 8) as u64;
    let model = Arc::new(ModelServer::start().await);
    let mut daemon = TestDaemon::new(&Config::with(&model));
    let ground = Ground::of(&daemon, &model, seed);
    let witness = ground.witness.clone();
    daemon.up().await;
    let fresh = Vitals::of(daemon.pid());
    let mut crowd = Crowd::start(ground, TASKS);
    let begun = Instant::now();
    let mut samples = Vec::new();
    while begun.elapsed() < Duration::from_secs(seconds) {
        samples.push((begun.elapsed().as_secs_f64(), Vitals::of(daemon.pid())));
        crowd.assert_running();
        // The measurement needs this much time.
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    crowd.finish().await;
    let account = audit(&ledger::read(&daemon.home()), &crowd.acks(), &witness, &model);
    drop(crowd);
    // Some are kept for a while on purpose: connections to the model, threads for the next burst of work.
    let settled = wait::within_or("descriptors and threads to be what they were", async || {
        let now = Vitals::of(daemon.pid());
        (now.descriptors <= fresh.descriptors + 12 && now.threads <= fresh.threads + 4).then_some(now)
    });
    let now = settled.await.unwrap_or_else(|| {
        let links = std::fs::read_dir(format!("/proc/{}/fd", daemon.pid())).unwrap();
        let open: Vec<_> = links.filter_map(|link| std::fs::read_link(link.ok()?.path()).ok()).collect();
        panic!("{fresh:?} has become {:?}: {open:?}", Vitals::of(daemon.pid()))
    });
    let half = &samples[samples.len() / 2..];
    println!("{seconds} s of soak: {account}");
    println!(
        "fresh {fresh:?}\nafter {now:?}\nheap over the second half: {:.1} KiB/s",
        slope(half.iter().map(|(at, vitals)| (*at, vitals.heap_kib as f64)))
    );
    let client = daemon.client().await;
    let status = client.call::<method::Status>(StatusParams::default()).await.unwrap();
    assert_eq!((status.tasks.running, status.inbox), (0, 0));
}

/// The slope of the line of best fit.
fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let n = points.clone().count() as f64;
    let (sx, sy) = points.clone().fold((0.0, 0.0), |(sx, sy), (x, y)| (sx + x, sy + y));
    let (mx, my) = (sx / n, sy / n);
    let (over, under) =
        points.fold((0.0, 0.0), |(o, u), (x, y)| (o + (x - mx) * (y - my), u + (x - mx) * (x - mx)));
    over / under
}

#[tokio::test]
async fn sixty_four_waiting_tasks_cost_nothing() {
    let mut world = World::start().await;
    world.model.script_for_all([Turn::ask("Go on?"), Turn::done("Done.")]);
    for n in 0..WAITING {
        let task = world.begin(world.task(&format!("waits-{n}"))).await;
        world.wait_status(task, Status::WaitingUser).await;
    }
    let sessions =
        async || world.client.call::<method::Status>(StatusParams::default()).await.unwrap().sessions;
    wait::wait_until("their actors to go", async || sessions().await == 0).await;
    // No client is connected, and the pool's threads of the last burst have ended.
    let pid = world.daemon.pid();
    world.client = {
        let idle = world.daemon.client().await;
        drop(std::mem::replace(&mut world.client, idle.clone()));
        idle
    };
    wait::wait_until("the pool's threads to go", async || {
        let before = Vitals::of(pid).threads;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let now = Vitals::of(pid).threads;
        now == before && now <= 12
    })
    .await;
    let seconds = times("ABIDE_TEST_IDLE_SECS", 3) as u64;
    let before = Vitals::of(pid);
    // The measurement needs this much time.
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let after = Vitals::of(pid);
    let ticks = after.cpu_ticks - before.cpu_ticks;
    println!(
        "{WAITING} waiting tasks for {seconds} s: {ticks} ticks of CPU, {} bytes written, heap {} KiB",
        after.written - before.written,
        after.heap_kib
    );
    assert_eq!(after.written, before.written, "nothing is written");
    assert!(ticks <= 1 + seconds / 5, "{ticks} ticks of CPU in {seconds} s");
}
