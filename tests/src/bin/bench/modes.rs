//! Modes with phases: the time of a step of `roa`, and how much of each request the one before it had.

use crate::{
    beside,
    floor::Work,
    model::{self, Answer, Asked, Model},
    setup::{self, Setup},
    table::{Aim, Figure, Value::Share},
};
use abide_client::protocol::{method::task::StartTaskParams, task::Mode};
use serde_json::json;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The model calls of a step of `roa`.
const PHASES: usize = 3;

pub(crate) async fn figures() -> Vec<Figure> {
    vec![
        roa_step().await,
        prefix(Mode::Agent, 1, agent).await,
        prefix(Mode::Roa, PHASES, roa).await,
        prefix(Mode::Plan, 1, plan).await,
    ]
}

/// The time of all three phases without the model, beside that of one request, one command and one synced
/// line.
async fn roa_step() -> Figure {
    const STEPS: usize = 50;
    let script = |asked: &Asked<'_>| roa(asked.number, STEPS);
    // The floor runs before the reply of reason.
    let beside = beside::run(Work::Shell, Mode::Roa, PHASES * STEPS, script, |n| n % (5 * PHASES) == 0).await;
    let steps: Vec<Duration> = beside.gaps().chunks_exact(PHASES).map(|step| step.iter().sum()).collect();
    beside.median(format!("step of `roa` with `true`, {STEPS} steps, median"), &steps)
}

/// The smallest share of a request's bytes that the request before it began with, from the third step on.
async fn prefix(mode: Mode, calls: usize, reply: fn(usize, usize) -> Answer) -> Figure {
    const STEPS: usize = 20;
    let shares: Arc<Mutex<Shares>> = Arc::default();
    let seen = Arc::clone(&shares);
    let model = Model::start(move |asked| {
        lock(&seen).see(asked.body);
        reply(asked.number, STEPS)
    });
    let setup = Setup::with(model).await;
    let params = StartTaskParams { mode: Some(mode), ..setup.task("prefix") };
    setup::begin(&setup.client, params).await;
    tokio::task::block_in_place(|| setup.model.asked("prefix", calls * STEPS));
    setup.idle().await;
    let late = lock(&shares).of_each.iter().skip(2 * calls).copied().fold(1.0, f64::min);
    let name = format!("`{}`: least share of a request that the last one had, from step 3 on", mode.name());
    Figure::new(name, Share(late)).aim(Aim::AtLeast(Share(0.95)))
}

fn lock(shares: &Mutex<Shares>) -> MutexGuard<'_, Shares> {
    shares.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The share of each request that was in the one before it, byte for byte from the start.
#[derive(Default)]
struct Shares {
    last: Vec<u8>,
    of_each: Vec<f64>,
}

impl Shares {
    #[expect(clippy::cast_precision_loss, reason = "a share of some kilobytes")]
    fn see(&mut self, body: &[u8]) {
        let same = self.last.iter().zip(body).take_while(|(old, new)| old == new).count();
        self.of_each.push(same as f64 / body.len() as f64);
        self.last = body.to_vec();
    }
}

fn agent(number: usize, steps: usize) -> Answer {
    if number + 1 < steps { model::shell_true(number) } else { model::done(number) }
}

fn roa(number: usize, steps: usize) -> Answer {
    let (step, phase) = (number / PHASES, number % PHASES);
    match phase {
        0 => model::say(&json!({ "plan": "Run it.", "tools_to_consider": ["shell"], "finish": false })),
        1 => model::shell_true(step),
        _ => {
            let goes_on = step + 1 < steps;
            model::say(&json!({ "observation": "It ran.", "should_continue": goes_on, "final_answer": "" }))
        }
    }
}

fn plan(number: usize, steps: usize) -> Answer {
    let call = json!({ "tool_name": "shell", "parameters": { "command": format!("true {number}") } });
    let is_last = number + 1 == steps;
    let calls = if is_last { Vec::new() } else { vec![call] };
    let plan =
        json!({ "reasoning": "Run it.", "tool_calls": calls, "question": null, "is_complete": is_last });
    model::say(&plan)
}
