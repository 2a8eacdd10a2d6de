//! The time of a step without the model: from the end of a reply to the arrival of the next request.

use crate::{
    floor::{Loop, Work},
    model::{self, Exchange, Model},
    setup::Setup,
    table::{Aim, Figure, Value::Time, median, percentile},
};
use std::{
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

const AIM: Aim = Aim::TimesFloor(1.7);
/// The steps of the floor between two steps of the daemon.
const BLOCK: usize = 5;

/// Tasks of 50 and 500 steps, with a shell command in each.
pub(crate) async fn figures() -> Vec<Figure> {
    let mut figures = Vec::new();
    for steps in [50, 500] {
        let (ours, floor) = run(Work::Shell, steps, |n| n % 5 == 0).await;
        let name = format!("step with `true`, {steps} steps");
        let floor_median = Time(median(&floor));
        figures
            .push(Figure::new(format!("{name}, median"), Time(median(&ours))).floor(floor_median).aim(AIM));
        figures.push(
            Figure::new(format!("{name}, p95"), Time(percentile(&ours, 95)))
                .floor(Time(percentile(&floor, 95))),
        );
        if steps == 500 {
            figures.push(
                Figure::new("its last 50 steps, beside its first 50", Time(median(&ours[steps - 51..])))
                    .floor(Time(median(&ours[..50]))),
            );
        }
    }
    figures
}

/// A task of 5,000 steps without processes: what remains is the request's body and one commit.
pub(crate) async fn long_figures() -> Vec<Figure> {
    const STEPS: usize = 5000;
    const EDGE: usize = 100;
    let is_edge = |n: usize| !(EDGE..STEPS - EDGE).contains(&n);
    let (ours, floor) = run(Work::Nothing, STEPS, move |n| is_edge(n) && n % 2 == 0).await;
    let edges =
        |times: &[Duration], edge: usize| (median(&times[..edge]), median(&times[times.len() - edge..]));
    let (first, last) = edges(&ours, EDGE - 1);
    let (floor_first, floor_last) = edges(&floor, EDGE / 2 * BLOCK);
    vec![
        Figure::new("step without a process, steps 1 to 100", Time(first)).floor(Time(floor_first)),
        Figure::new("steps 4,900 to 5,000, floor at equal body size", Time(last)).floor(Time(floor_last)),
    ]
}

/// The times of the daemon's steps, and of the floor's, which run in between: before each step for which `floor_at` is true.
async fn run(
    work: Work,
    steps: usize,
    floor_at: impl Fn(usize) -> bool + Send + Sync + 'static,
) -> (Vec<Duration>, Vec<Duration>) {
    let floor: Arc<OnceLock<Mutex<Loop>>> = Arc::default();
    let shared_floor = Arc::clone(&floor);
    let model = Model::start(move |asked| {
        let answer = match work {
            Work::Shell => model::shell_true(asked.number),
            Work::Nothing => model::update(asked.number),
        };
        if asked.key == "floor" {
            return answer;
        }
        // The daemon waits for its reply while the floor runs.
        if let (true, Some(floor)) = (floor_at(asked.number), shared_floor.get()) {
            floor.lock().unwrap_or_else(PoisonError::into_inner).steps(BLOCK, asked.bytes);
        }
        if asked.number < steps { answer } else { model::done(asked.number) }
    });
    let setup = Setup::with(model).await;
    let model = &setup.model;
    let mut environment = setup.daemon.variables();
    // The variables that the daemon passes on.
    environment.retain(|name, _| ["HOME", "LANG", "PATH"].contains(&name.as_str()));
    assert!(floor.set(Mutex::new(Loop::new(&model.url(), setup.daemon.root(), work, environment))).is_ok());
    setup.begin("step").await;
    tokio::task::block_in_place(|| model.asked("step", steps + 1));
    setup.idle().await;
    let ours = step_times(&model.exchanges("step"));
    let floor = model.exchanges("floor");
    // Between two blocks the floor waits for the daemon.
    (ours, floor.chunks(BLOCK + 1).flat_map(step_times).collect())
}

fn step_times(exchanges: &[Exchange]) -> Vec<Duration> {
    exchanges.windows(2).filter_map(|pair| Some(pair[1].asked - pair[0].answered?)).collect()
}
