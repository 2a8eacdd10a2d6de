//! The daemon's memory, as proportional set size: a page shared by several processes counts for each in part.

use crate::{
    gate::Gate,
    model::{self, Model},
    setup::Setup,
    table::{Aim, Figure, Value::Size},
};
/// The steps of each task before the measurement.
const STEPS: usize = 5;

pub(crate) async fn figures() -> Vec<Figure> {
    let idle = Setup::with(Model::start(|asked| model::done(asked.number))).await;
    let mut figures = vec![Figure::new("memory, idle", Size(idle.pss())).aim(Aim::AtMost(Size(15e6)))];
    drop(idle);
    for tasks in [32, 64] {
        let figure = Figure::new(format!("memory, {tasks} tasks running"), Size(running(tasks).await));
        figures.push(if tasks == 32 { figure.aim(Aim::AtMost(Size(25e6))) } else { figure });
    }
    figures
}

/// The memory with this many tasks, all of which have run some commands and wait for the model.
async fn running(tasks: usize) -> f64 {
    let gate = Gate::default();
    let held = gate.clone();
    let setup = Setup::with(Model::start(move |asked| {
        if asked.number < STEPS {
            return model::shell_true(asked.number);
        }
        held.pass();
        model::done(asked.number)
    }))
    .await;
    let keys: Vec<String> = (0..tasks).map(|n| format!("runs-{n}")).collect();
    for key in &keys {
        setup.begin(key).await;
    }
    tokio::task::block_in_place(|| {
        for key in &keys {
            setup.model.asked(key, STEPS + 1);
        }
    });
    let size = setup.pss();
    gate.open();
    setup.idle().await;
    size
}
