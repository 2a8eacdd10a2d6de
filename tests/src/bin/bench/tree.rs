//! Sub-tasks: how long a fork and a delivery take, how much sub-tasks hold each other up, and what many of
//! them cost.

use crate::{
    beside::{self, KEY},
    floor::Work,
    gate::Gate,
    model::{self, Asked, Model},
    setup::{self, Setup},
    table::{
        Aim, Figure,
        Value::{Rate, Size, Time},
        median,
    },
};
use abide_client::protocol::task::Mode;
use abide_tests::{ledger, wait};
use std::{
    thread,
    time::{Duration, Instant},
};

/// Each is started by one reply, which also waits for it.
const CHILDREN: usize = 50;

const AIM: Aim = Aim::AtMost(Time(Duration::from_millis(5)));

pub(crate) async fn figures() -> Vec<Figure> {
    let mut figures = ways().await;
    figures.push(four_at_once().await);
    figures.push(sixteen_at_once().await);
    figures.append(&mut many().await);
    figures
}

/// From a call of `fork` to the child's first request, and from a child's end to its parent's next request.
async fn ways() -> Vec<Figure> {
    let script = |asked: &Asked<'_>| {
        if asked.key == KEY && asked.number < CHILDREN {
            return model::fork_and_wait(asked.number, &[child(asked.number)]);
        }
        model::done(asked.number)
    };
    let beside = beside::run(Work::Nothing, Mode::Agent, CHILDREN + 1, script, |n| n % 5 == 0).await;
    let parent = beside.setup.model.exchanges(KEY);
    let (mut begins, mut ends): (Vec<Duration>, Vec<Duration>) = Default::default();
    for number in 0..CHILDREN {
        let child = beside.setup.model.exchanges(&child(number));
        assert_eq!(child.len(), 1, "child {number} ends with its first reply");
        begins.extend(parent[number].answered.map(|forked| child[0].asked - forked));
        ends.extend(child[0].answered.map(|ended| parent[number + 1].asked - ended));
    }
    vec![
        beside.median("`fork` to the child's first model request", &begins).aim(AIM),
        beside.median("a child's end to its parent's next request", &ends).aim(AIM),
    ]
}

fn child(number: usize) -> String {
    format!("child-{number}")
}

/// Four children whose model takes its time, beside the slowest of them alone.
async fn four_at_once() -> Figure {
    const ROUNDS: usize = 5;
    const REPLY: Duration = Duration::from_millis(50);
    // A child named `child-N…` gives 4 to 7 replies.
    let setup = Setup::with(Model::start(|asked| {
        let Some((steps, _)) = asked.key.strip_prefix("child-").and_then(|rest| rest.split_once('-')) else {
            let (round, is_all) = (asked.number / 2, asked.number.is_multiple_of(2));
            let first = if is_all { 4 } else { 7 };
            let children: Vec<String> = (first..=7).map(|n| format!("child-{n}-{round}-{first}")).collect();
            let ends = round == ROUNDS;
            return if ends {
                model::done(asked.number)
            } else {
                model::fork_and_wait(asked.number, &children)
            };
        };
        #[expect(clippy::disallowed_methods, reason = "a model that takes its time")]
        thread::sleep(REPLY);
        let is_last = asked.number + 1 == steps.parse::<usize>().expect("a number of steps");
        if is_last { model::done(asked.number) } else { model::update(asked.number) }
    }))
    .await;
    setup.begin(KEY).await;
    tokio::task::block_in_place(|| setup.model.asked(KEY, 2 * ROUNDS + 1));
    setup.idle().await;
    let asked = setup.model.exchanges(KEY);
    let took: Vec<Duration> =
        asked.windows(2).filter_map(|pair| Some(pair[1].asked - pair[0].answered?)).collect();
    let of = |which: usize| -> Vec<Duration> { took.iter().copied().skip(which).step_by(2).collect() };
    Figure::new("four children of 4 to 7 steps, beside the slowest alone", Time(median(&of(0))))
        .floor(Time(median(&of(1))))
        .aim(Aim::TimesFloor(1.1))
}

/// The children of one root: its records are written by one actor.
const BUSY: usize = 16;

/// Steps a second of sixteen children, beside those of sixteen roots.
async fn sixteen_at_once() -> Figure {
    const STEPS: usize = 300;
    const ROUNDS: usize = 3;
    let keys =
        |of: &str, round: usize| -> Vec<String> { (0..BUSY).map(|n| format!("{of}-{round}-{n}")).collect() };
    let model = Model::start(move |asked| {
        let parent = asked.key.strip_prefix("parent-").and_then(|round| round.parse().ok());
        match parent {
            Some(round) if asked.number == 0 => model::fork_and_wait(0, &keys("child", round)),
            None if asked.number < STEPS => model::update(asked.number),
            _ => model::done(asked.number),
        }
    });
    let config = setup::config(&model, setup::PARALLEL).task(&format!("max_children = {BUSY}"));
    let setup = Setup::configured(model, &config).await;
    // From the first request of any of them to the last of all.
    let took = |keys: &[String]| {
        tokio::task::block_in_place(|| keys.iter().map(|key| setup.model.asked(key, STEPS + 1)).max());
        let asked = keys.iter().flat_map(|key| setup.model.exchanges(key)).map(|exchange| exchange.asked);
        let (first, last) =
            asked.fold((None, None), |(first, last): (Option<Instant>, Option<Instant>), at| {
                (Some(first.map_or(at, |first| first.min(at))), Some(last.map_or(at, |last| last.max(at))))
            });
        last.expect("a request") - first.expect("a request")
    };
    let (mut of_children, mut of_roots) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let roots = keys("root", round);
        for root in &roots {
            setup.begin(root).await;
        }
        of_roots.push(took(&roots));
        setup.idle().await;
        setup.begin(&format!("parent-{round}")).await;
        of_children.push(took(&keys("child", round)));
        setup.idle().await;
    }
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let rate = |took: &[Duration]| Rate((BUSY * STEPS) as f64 / median(took).as_secs_f64());
    Figure::new("steps of sixteen children, beside those of sixteen roots", rate(&of_children))
        .floor(rate(&of_roots))
        .aim(Aim::ShareOfFloor(0.7))
}

/// Roots whose children are all live.
const ROOTS: usize = 64;
/// Model calls at the same time: one for each task, and the default, where most tasks wait for a place.
const PARALLEL: [(usize, &str); 2] =
    [(2 * ROOTS * BUSY, "with open requests"), (8, "of which 8 have a place")];

/// What each of 1,024 children takes more than 256 do. What grew with the square would take each four times
/// as long.
async fn many() -> Vec<Figure> {
    const FEW: usize = 4;
    let mut figures = Vec::new();
    for (parallel, how) in PARALLEL {
        let (few, many) = (alive(FEW, parallel).await, alive(BUSY, parallel).await);
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let more = (many.0 - few.0) / (ROOTS * (BUSY - FEW)) as f64;
        let what = format!("each of 1,024 live children of 64 roots, {how}");
        let aim = Aim::AtMost(Size(64e3));
        figures.push(Figure::new(format!("memory of {what}"), Size(more)).aim(aim));
        figures.push(Figure::new(format!("time for {what}, beside 256"), Time(many.1)).floor(Time(few.1)));
    }
    figures
}

/// The daemon's memory when each root has so many live children, and the share of each child in the time
/// until all are. They wait for their first reply, or for a place among the model calls.
async fn alive(each: usize, parallel: usize) -> (f64, Duration) {
    let [fork, end] = [Gate::default(), Gate::default()];
    let (may_fork, may_end) = (fork.clone(), end.clone());
    let model = Model::start(move |asked| {
        if asked.key.starts_with("root-") && asked.number == 0 {
            may_fork.pass();
            let children: Vec<String> = (0..each).map(|n| format!("child-{}-{n}", asked.key)).collect();
            return model::fork_and_wait(0, &children);
        }
        may_end.pass();
        model::done(asked.number)
    });
    let config = setup::config(&model, parallel).task(&format!("max_children = {BUSY}"));
    let setup = Setup::configured(model, &config).await;
    for root in 0..ROOTS {
        setup.begin(&format!("root-{root}")).await;
    }
    let (began, count) = (Instant::now(), ROOTS * each);
    fork.open();
    // A root that has not forked yet is at work too, but has no children: there are so many only if all are
    // live.
    let database = setup.daemon.home().database();
    wait::wait_until("all children to be live", async || ledger::at_work(&database).len() == count).await;
    let took = began.elapsed();
    let mut memory = 0.0;
    wait::wait_until("all requests to be made or to wait for a place", async || {
        let before = std::mem::replace(&mut memory, setup.pss());
        (before - memory).abs() < 4096.0
    })
    .await;
    end.open();
    setup.idle().await;
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let of_each = took.div_f64(count as f64);
    (memory, of_each)
}
