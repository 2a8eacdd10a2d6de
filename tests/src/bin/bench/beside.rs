//! Runs a task of the daemon and the floor by turns, so that both see the same machine.

use crate::{
    floor::{Loop, Work},
    model::{self, Answer, Asked, Exchange, Model},
    setup::{self, Setup},
    table::{Figure, Value::Time, median},
};
use abide_client::protocol::{method::task::StartTaskParams, task::Mode};
use std::{
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

/// The steps of the floor between two requests of the daemon.
pub(crate) const BLOCK: usize = 5;

/// The key of the daemon's task.
pub(crate) const KEY: &str = "step";

/// The daemon after its task, and the times of the floor's steps.
pub(crate) struct Beside {
    pub(crate) setup: Setup,
    pub(crate) floor: Vec<Duration>,
}

/// Runs a task until it has sent so many requests and nothing runs. The floor runs before each answer for
/// which `floor_at` is true.
pub(crate) async fn run(
    work: Work,
    mode: Mode,
    requests: usize,
    script: impl Fn(&Asked<'_>) -> Answer + Send + Sync + 'static,
    floor_at: impl Fn(usize) -> bool + Send + Sync + 'static,
) -> Beside {
    let floor: Arc<OnceLock<Mutex<Loop>>> = Arc::default();
    let shared_floor = Arc::clone(&floor);
    let model = Model::start(move |asked| {
        if asked.key == "floor" {
            return match work {
                Work::Shell => model::shell_true(asked.number),
                Work::Nothing => model::update(asked.number),
            };
        }
        // The daemon waits for its reply while the floor runs.
        if let (true, Some(floor)) = (asked.key == KEY && floor_at(asked.number), shared_floor.get()) {
            floor.lock().unwrap_or_else(PoisonError::into_inner).steps(BLOCK, asked.body.len());
        }
        script(asked)
    });
    let setup = Setup::with(model).await;
    let model = &setup.model;
    let mut environment = setup.daemon.variables();
    // The variables that the daemon passes on.
    environment.retain(|name, _| ["HOME", "LANG", "PATH"].contains(&name.as_str()));
    assert!(floor.set(Mutex::new(Loop::new(&model.url(), setup.daemon.root(), work, environment))).is_ok());
    setup::begin(&setup.client, StartTaskParams { mode: Some(mode), ..setup.task(KEY) }).await;
    tokio::task::block_in_place(|| model.asked(KEY, requests));
    setup.idle().await;
    let floor = model.exchanges("floor");
    // Between two blocks the floor waits for the daemon.
    let floor = floor.chunks(BLOCK + 1).flat_map(gaps).collect();
    Beside { setup, floor }
}

impl Beside {
    /// The times between the end of each reply and the next request.
    pub(crate) fn gaps(&self) -> Vec<Duration> {
        gaps(&self.setup.model.exchanges(KEY))
    }

    /// The median of these times, with that of the floor.
    pub(crate) fn median(&self, what: impl Into<String>, times: &[Duration]) -> Figure {
        Figure::new(what, Time(median(times))).floor(Time(median(&self.floor)))
    }
}

/// The times between the end of each reply and the next request.
pub(crate) fn gaps(exchanges: &[Exchange]) -> Vec<Duration> {
    exchanges.windows(2).filter_map(|pair| Some(pair[1].asked - pair[0].answered?)).collect()
}
