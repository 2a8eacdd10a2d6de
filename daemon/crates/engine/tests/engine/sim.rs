//! Simulates a whole daemon in one thread: the real engine and the real driver of one conversation, on a
//! simulated store, clock, model, tools and people, all drawn from one seed. One run is a life. Between any
//! two events the daemon may die or the disk fill up, and outcomes arrive late, twice and in any order.
//! `audit` checks every record. What the model and the people receive is compared with what the simulated
//! tools did and what is on disk.
//!
//! * `ABIDE_SIM_SEED=n` runs the life of one seed and prints its events;
//! * `ABIDE_SIM_SEEDS=n` runs the lives of the first `n` seeds; with `ABIDE_SIM_FROM=m`, those of them from
//!   seed `m` on.

mod actor;
mod code;
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
    record::InterventionKind,
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
/// With this many lives, every one of [`coverage_goals`] must have occurred.
const SEEDS_FOR_COVERAGE: u64 = 5_000;

#[test]
fn every_life_passes_the_audit() {
    if let Some(seed) = number("ABIDE_SIM_SEED") {
        let mut life = Life::new(seed, true);
        life.run();
        eprintln!("seed {seed}: history {:016x}", hash(&life));
        return;
    }
    let seeds = number("ABIDE_SIM_SEEDS").unwrap_or(SEEDS);
    let next = AtomicU64::new(number("ABIDE_SIM_FROM").unwrap_or_default());
    let failed = AtomicBool::new(false);
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let mut covered = BTreeSet::new();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut covered = BTreeSet::new();
                    while !failed.load(Ordering::Relaxed) {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= seeds {
                            break;
                        }
                        match panic::catch_unwind(|| run_life(seed)) {
                            Ok(life) => covered.extend(life.covered),
                            Err(_) if failed.swap(true, Ordering::Relaxed) => {}
                            Err(_) => rerun_verbosely(seed),
                        }
                    }
                    covered
                })
            })
            .collect();
        covered = workers.into_iter().flat_map(|worker| worker.join().expect("the worker ends")).collect();
    });
    assert!(!failed.into_inner(), "a life failed: see above how to run it again");
    let missing: Vec<_> = coverage_goals().into_iter().filter(|goal| !covered.contains(goal)).collect();
    assert!(
        seeds < SEEDS_FOR_COVERAGE || missing.is_empty(),
        "these never occurred: {missing:?}; these did: {covered:?}"
    );
}

#[test]
fn the_same_seed_gives_the_same_records() {
    for seed in 0..100 {
        assert_eq!(hash(&run_life(seed)), hash(&run_life(seed)), "seed {seed}");
    }
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|n| n.parse().expect("a number"))
}

fn run_life(seed: u64) -> Life {
    let mut life = Life::new(seed, false);
    life.run();
    life
}

/// Runs a failed life again and prints its events.
fn rerun_verbosely(seed: u64) {
    eprintln!("\nseed {seed} fails; its events:");
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

/// What has to occur of each mode.
const OF_MODES: &[&str] = &[
    "Clarify",
    "Inquire",
    "Split",
    "Summarize",
    "Tree: Completed",
    "Tree: Declined",
    "Tree: StepLimit",
    "Tree: Stopped",
    "steps shortened before a step: Tree",
    "Auto: Completed",
    "Auto: kept from its end by sub-tasks",
    "Reason",
    "Act",
    "Observe",
    "Plan",
    "Roa: Completed",
    "Roa: StepLimit",
    "Roa: Stopped",
    "Plan: Completed",
    "Plan: StepLimit",
    "Plan: Stopped",
    "Roa: kept from its end by sub-tasks",
    "steps shortened before a step: Agent",
    "steps shortened before a step: Plan",
    "steps shortened before a step: Roa",
    "steps shortened after an overflow: Agent",
    "steps shortened after an overflow: Roa",
    "a phase without a model call",
];

/// What has to occur in some life; otherwise the lives prove little.
fn coverage_goals() -> BTreeSet<String> {
    use EndReason as E;
    use QuestionKind as Q;
    let statuses = Status::ALL.iter().map(|s| format!("{s:?}"));
    let ends = [
        E::Completed,
        E::StepLimit,
        E::TimeLimit,
        E::Stopped,
        E::QuestionTimeout,
        E::Budget,
        E::Error,
        E::ParentEnded,
        E::Declined,
    ];
    let pauses = [
        PauseReason::User,
        PauseReason::Budget,
        PauseReason::CrashLoop,
        PauseReason::Restart,
        PauseReason::Parked,
    ];
    let questions = [Q::Agent, Q::Loop, Q::Budget, Q::Interrupted, Q::Restart, Q::Parked];
    let events = [
        "AppendFailed",
        "DaemonRestarted",
        "Invalid",
        "a message id sent with another digest",
        "a deletion",
        "a disk that broke",
        "a late outcome",
        "a fork over a cap",
        "a result of a wait",
        "a reply withdrawn",
        "shown text of a withdrawn reply kept",
        "a second answer refused",
        "a sub-task of a call",
        "a message to a parent",
        "a message to a sub-task",
        "an end refused because of sub-tasks",
        "outputs left out before a step",
        "outputs left out after an overflow",
        "a message passed on",
        "a message sent twice",
        "a helper note left by a crash",
        "a prepared call that never started",
        "a load from a snapshot",
        "a request sent again",
        "a result delivered",
        "several replies in one append",
        "several replies of one append lost in a crash",
        "calls read in a text",
        "an answer as a message",
        "an imported message",
        "a recall",
        "a reading while attempts go on",
        "a sub-task of a sub-task",
        "a withdrawn append that committed",
        "an actor that left",
        "a checkpoint",
        "a checkpoint after its task's end",
        "an undo",
        "an undo of a paused task",
        "an alarm",
        "an append that failed",
        "an edit found done",
        "a cut-off",
        "a drain",
        "a hand-over",
        "a hold in vain",
        "a hold up to a boundary",
        "an urgent append on a full disk",
        "held: CrashLoop",
        "held: Restart",
        "held: User",
        "shown text kept: Error, broken before: false",
        "shown text kept: ParentEnded, broken before: false",
        "shown text kept: ParentEnded, broken before: true",
        "shown text kept: Stopped, broken before: false",
        "shown text kept: Stopped, broken before: true",
        "shown text kept: TimeLimit, broken before: false",
        "uncommitted records lost in a crash",
        "two live sub-tasks of one task",
    ];
    let ends = ends.map(|e| format!("{e:?}")).into_iter();
    let pauses = pauses.map(|p| format!("{p:?}")).into_iter();
    let questions = questions.map(|q| format!("{q:?}")).into_iter();
    // A task seldom fails from another status than thinking: only if the daemon died in between.
    let common = |(from, to): &(Status, Status)| *to != Status::Error || *from == Status::Thinking;
    let steps = audit::status::all().filter(common).map(|(from, to)| format!("{from:?} -> {to:?}"));
    statuses
        .chain(steps)
        .chain(ends)
        .chain(pauses)
        .chain(questions)
        .chain(intervention_goals())
        .chain(events.into_iter().chain(code::GOALS).chain(OF_MODES.iter().copied()).map(str::to_owned))
        .collect()
}

/// Each kind of intervention, in each status that a task may have.
fn intervention_goals() -> impl Iterator<Item = String> {
    let found = [
        Status::Thinking,
        Status::ToolExecuting,
        Status::WaitingUser,
        Status::WaitingApproval,
        Status::WaitingChildren,
        Status::Paused,
    ];
    let kinds = [InterventionKind::Comment, InterventionKind::Modify, InterventionKind::Delete];
    kinds.into_iter().flat_map(move |kind| found.map(|status| format!("{kind:?}: {status:?}")))
}
