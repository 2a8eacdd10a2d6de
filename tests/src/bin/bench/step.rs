//! The time of a step without the model: from the end of a reply to the arrival of the next request.

use crate::{
    beside::{self, BLOCK},
    floor::Work,
    model::{self, Asked},
    table::{Aim, Figure, Value::Time, median, percentile},
};
use abide_client::protocol::task::Mode;
use std::time::Duration;

const AIM: Aim = Aim::TimesFloor(1.7);

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

/// The times of the daemon's steps, and of the floor's, which run in between: before each step for which
/// `floor_at` is true.
async fn run(
    work: Work,
    steps: usize,
    floor_at: impl Fn(usize) -> bool + Send + Sync + 'static,
) -> (Vec<Duration>, Vec<Duration>) {
    let script = move |asked: &Asked<'_>| match work {
        _ if asked.number >= steps => model::done(asked.number),
        Work::Shell => model::shell_true(asked.number),
        Work::Nothing => model::update(asked.number),
    };
    let beside = beside::run(work, Mode::Agent, steps + 1, script, floor_at).await;
    (beside.gaps(), beside.floor)
}
