//! The whole daemon in one thread, simulated: the real engine and the real driver of a conversation, and around them a
//! store, a clock, a model, tools and people, all driven by one seed. Between any two events the daemon may die, the disk may be
//! full; what is under way arrives late, twice, in any order. `audit` looks at every record; what the model and people are told
//! is compared with what a witness saw.
//!
//! * `ABIDE_SIM_SEED=n` runs one life and prints what happens;
//! * `ABIDE_SIM_SEEDS=n` runs that many.

mod actor;
mod daemon;
mod disk;
mod life;
mod nature;
mod outside;
mod people;
mod script;

use crate::audit;
use abide_protocol::{
    inbox::QuestionKind,
    task::{EndReason, PauseReason, Status},
};
use life::Life;
use std::{
    collections::BTreeSet,
    env,
    hash::{DefaultHasher, Hasher as _},
    panic,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
};

const SEEDS: u64 = 10_000;
/// So many come by everything.
const MANY: u64 = 5_000;

#[test]
fn every_life_keeps_every_promise() {
    if let Some(seed) = number("ABIDE_SIM_SEED") {
        let mut life = Life::new(seed, true);
        life.run();
        eprintln!("seed {seed}: history {:016x}", hash(&life));
        return;
    }
    let seeds = number("ABIDE_SIM_SEEDS").unwrap_or(SEEDS);
    let next = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let mut seen = BTreeSet::new();
    thread::scope(|scope| {
        let hands: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut seen = BTreeSet::new();
                    while !failed.load(Ordering::Relaxed) {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= seeds {
                            break;
                        }
                        match panic::catch_unwind(|| lived(seed)) {
                            Ok(life) => seen.extend(life.seen),
                            Err(_) if failed.swap(true, Ordering::Relaxed) => {}
                            Err(_) => show(seed),
                        }
                    }
                    seen
                })
            })
            .collect();
        seen = hands.into_iter().flat_map(|hand| hand.join().expect("a thread of lives ends")).collect();
    });
    assert!(!failed.into_inner(), "a promise was broken: see above how to run that life again");
    let unseen: Vec<_> = everything().into_iter().filter(|what| !seen.contains(what)).collect();
    assert!(seeds < MANY || unseen.is_empty(), "the lives never come by {unseen:?}; they did by {seen:?}");
}

#[test]
fn the_same_seed_is_the_same_life() {
    for seed in 0..100 {
        assert_eq!(hash(&lived(seed)), hash(&lived(seed)), "seed {seed}");
    }
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|n| n.parse().expect("a number"))
}

fn lived(seed: u64) -> Life {
    let mut life = Life::new(seed, false);
    life.run();
    life
}

/// Once more, aloud.
fn show(seed: u64) {
    eprintln!("\nseed {seed} fails; what happens in it:");
    drop(panic::catch_unwind(|| Life::new(seed, true).run()));
    eprintln!("\nrun it again: ABIDE_SIM_SEED={seed} cargo test -p abide-engine sim:: -- --nocapture\n");
}

fn hash(life: &Life) -> u64 {
    let mut hasher = DefaultHasher::new();
    for record in &life.disk.records {
        hasher
            .write(&serde_json::to_vec(&(record.id, record.task_id, record.at, &record.body)).expect("JSON"));
    }
    hasher.finish()
}

/// What the lives have to come by; otherwise they prove little.
fn everything() -> BTreeSet<String> {
    use EndReason as E;
    use QuestionKind as Q;
    let statuses = Status::ALL.iter().filter(|s| **s != Status::WaitingChildren).map(|s| format!("{s:?}"));
    let ends = [
        E::Completed,
        E::StepLimit,
        E::TimeLimit,
        E::Stopped,
        E::QuestionTimeout,
        E::Budget,
        E::Error,
        E::ParentEnded,
    ];
    let pauses = [PauseReason::User, PauseReason::Budget, PauseReason::CrashLoop, PauseReason::Restart];
    let questions = [Q::Agent, Q::Loop, Q::Budget, Q::Interrupted, Q::Restart];
    let happenings = [
        "AppendFailed",
        "DaemonRestarted",
        "Invalid",
        "a conflict",
        "a deletion",
        "a disk that broke",
        "a late outcome",
        "a lost race",
        "a message passed on",
        "a message sent twice",
        "a note that a crash left",
        "a prepared call that never began",
        "a reading from a checkpoint",
        "a request sent again",
        "a result delivered",
        "a task beneath two",
        "a withdrawn append was stored after all",
        "an actor that went",
        "an alarm",
        "an append that failed",
        "an edit found done",
        "cut off",
        "drained",
        "pressed on a full disk",
        "held: CrashLoop",
        "held: Restart",
        "held: User",
        "records lost in a crash",
        "two tasks beneath one",
    ];
    let ends = ends.map(|e| format!("{e:?}")).into_iter();
    let pauses = pauses.map(|p| format!("{p:?}")).into_iter();
    let questions = questions.map(|q| format!("{q:?}")).into_iter();
    // An error seldom comes later than with the model's answer: when the daemon went in between.
    let common = |(from, to): &(Status, Status)| *to != Status::Error || *from == Status::Thinking;
    let steps = audit::status::all().filter(common).map(|(from, to)| format!("{from:?} -> {to:?}"));
    statuses
        .chain(steps)
        .chain(ends)
        .chain(pauses)
        .chain(questions)
        .chain(happenings.map(str::to_owned))
        .collect()
}
