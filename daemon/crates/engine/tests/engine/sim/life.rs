//! One life: a queue of events, in an order that depends on the seed alone, never on a clock, a thread or the
//! order of a hash map.

use super::{actor::Message, daemon::Daemon, disk::Disk, nature::Nature, outside::Outside, people::People};
use crate::{audit::Audit, world::DAWN};
use abide_engine::{Effect, Input, Mint, Stage, Task, driver::Predecessor, effects, is_at_work, status};
use abide_protocol::{TaskId, Timestamp, record::ClockMoved};
use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

/// The number of events with faults.
const FAULTY_EVENTS: usize = 220;
/// The number of events without faults in which every task must end.
const CALM_EVENTS: usize = 3000;

/// An event of the simulation.
#[derive(Debug)]
pub(super) enum Event {
    /// A person may act.
    Person(usize),
    /// A client's request reaches the daemon's socket.
    Request(u64),
    /// A message reaches the actor's mailbox.
    Mail(Box<Message>),
    Alarm,
    /// The actor's records are loaded.
    Loaded,
    /// The actor's linger time is over.
    Linger,
    /// The writer commits this append.
    Commit(u64),
    /// The actor gets the append's result.
    Answer(u64),
    /// A model call ends.
    ModelEnds(u64),
    /// A tool has its effect.
    ToolActs(u64),
    ToolEnds(u64),
    /// A checkpoint is made, or an undo is over.
    FilesEnd(u64),
    DiskFull,
    DiskRoom,
    /// The daemon wants all tasks at a boundary, to hand over to another program.
    Hold,
    /// It goes on instead.
    Release,
    /// `abide daemon stop`.
    Drain,
    /// The daemon stops waiting for running attempts.
    CutOff,
    Crash,
    Start,
}

pub(super) struct Life {
    pub(super) dice: Mint,
    pub(super) nature: Nature,
    /// The real time; never goes back.
    now: Timestamp,
    /// The daemon's clock minus the real time.
    skew: i64,
    /// How far the clock has moved, all in all.
    pub(super) moved: ClockMoved,
    /// Ordered by time, then randomly. Each event belongs to a daemon's generation, or to any if `None`.
    queue: BTreeMap<(Timestamp, u64), (Option<u64>, Event)>,
    pub(super) disk: Disk,
    pub(super) daemon: Option<Daemon>,
    /// How the last daemon ended.
    pub(super) predecessor: Predecessor,
    /// The number of daemons so far.
    pub(super) generation: u64,
    pub(super) outside: Outside,
    pub(super) people: People,
    pub(super) audit: Audit,
    /// The coverage goals that occurred; see `coverage_goals`.
    pub(super) covered: BTreeSet<String>,
    /// The number of records when the tasks were last checked.
    checked_records: usize,
    verbose: bool,
}

impl Life {
    pub(super) fn new(seed: u64, verbose: bool) -> Self {
        let mut dice = Mint::new(DAWN, seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xAB1D_E000);
        let nature = Nature::new(&mut dice);
        Self {
            dice,
            nature,
            now: DAWN,
            skew: 0,
            moved: ClockMoved::default(),
            queue: BTreeMap::new(),
            disk: Disk::default(),
            daemon: None,
            predecessor: Predecessor::default(),
            generation: 0,
            outside: Outside::default(),
            people: People::default(),
            audit: Audit::default(),
            covered: BTreeSet::new(),
            checked_records: 0,
            verbose,
        }
    }

    /// Runs events with faults, then events without, until all tasks have ended.
    pub(super) fn run(&mut self) {
        self.start_daemon();
        for person in 0..2 {
            self.after(50, Event::Person(person));
        }
        for _ in 0..FAULTY_EVENTS {
            self.draw_faults();
            self.run_event();
        }
        self.end_faults();
        for _ in 0..CALM_EVENTS {
            if self.is_over() {
                return self.check_at_end();
            }
            self.run_event();
        }
        panic!("a task neither ends nor waits for a person: {:#?}", self.disk.published.tasks());
    }

    fn run_event(&mut self) {
        let ((at, _), (generation, event)) =
            self.queue.pop_first().expect("the people always have a next event");
        self.now = self.now.max(at);
        if generation.is_some_and(|of| of != self.generation) {
            return;
        }
        self.log(|| format!("{event:?}"));
        match event {
            Event::Person(person) => self.person(person),
            Event::Request(number) => self.request(number),
            Event::Mail(message) => self.admit(*message),
            Event::Alarm => self.ring_alarm(),
            Event::Loaded => self.loaded(),
            Event::Linger => self.linger(),
            Event::Commit(append) => self.commit(append),
            Event::Answer(append) => self.answered(append),
            Event::ModelEnds(job) => self.model_ends(job),
            Event::ToolActs(job) => self.tool_acts(job),
            Event::ToolEnds(job) => self.tool_ends(job),
            Event::FilesEnd(job) => self.files_end(job),
            Event::DiskFull => self.disk.full = true,
            Event::DiskRoom => self.free_disk(),
            Event::Hold => self.hold(),
            Event::Release => self.release(),
            Event::Drain => self.drain(),
            Event::CutOff => self.cut_off(),
            Event::Crash => self.crash(),
            Event::Start => self.start_daemon(),
        }
        self.work();
        self.check_after_event();
        self.check_actor();
    }

    /// Draws the faults before the next event.
    fn draw_faults(&mut self) {
        let nature = self.nature;
        if self.one_in(nature.crashes) {
            self.soon(Event::Crash);
        }
        if self.one_in(nature.full_disks) && !self.disk.full {
            self.soon(Event::DiskFull);
            self.after(4000, Event::DiskRoom);
        }
        if self.one_in(nature.holds) {
            self.soon(Event::Hold);
        }
        if self.one_in(nature.drains) {
            self.soon(Event::Drain);
        }
        if self.one_in(60) {
            self.set_clock();
        }
        if self.one_in(200) {
            let ms = self.roll(3_600_000);
            self.now = self.now.plus(ms);
            self.moved.slept_ms += ms;
        }
    }

    /// Sets the daemon's clock, by a day at times.
    fn set_clock(&mut self) {
        let most = if self.one_in(4) { 86_400_000 } else { 10_000 };
        let skew = i64::try_from(self.roll(2 * most)).expect("small") - i64::try_from(most).expect("small");
        self.moved.set_by_ms += skew - std::mem::replace(&mut self.skew, skew);
    }

    fn end_faults(&mut self) {
        self.log(|| "no more faults".to_owned());
        self.nature = Nature::calm();
        self.queue.retain(|_, (_, event)| {
            !matches!(event, Event::Crash | Event::Hold | Event::Drain | Event::DiskFull)
        });
        if self.disk.broken {
            self.crash();
        }
        if self.disk.full {
            self.free_disk();
        }
        if self.daemon.as_ref().is_some_and(|daemon| daemon.draining) {
            self.crash();
        }
    }

    fn is_over(&self) -> bool {
        self.daemon.is_some() && self.disk.published.live().next().is_none() && self.people.are_idle()
    }

    /// Checks after every event.
    fn check_after_event(&mut self) {
        if mem::replace(&mut self.checked_records, self.disk.records.len()) != self.disk.records.len() {
            self.check_tasks();
        }
        // A running daemon has an actor for each conversation with a task at work.
        if let Some(daemon) = self.daemon.as_ref().filter(|d| !d.draining && d.actor.is_none()) {
            let lost = self.disk.broken;
            let wanted = effects(&self.disk.published);
            // Nothing has changed yet, so a start leaves it until something is about to act.
            let published = &self.disk.published;
            let can_wait = |effect: &Effect| {
                matches!(effect, Effect::Checkpoint { .. }) && published.newest_checkpoint().is_none()
            };
            let can_wait = wanted.iter().all(can_wait);
            assert!(lost || can_wait || daemon.alarm.is_some(), "{wanted:?} has no actor");
            for task in self.disk.published.live() {
                assert!(lost || !is_at_work(task), "a task is at work without an actor");
                let wakes = daemon.alarm.is_some() || abide_engine::wake_at(task).is_none();
                assert!(lost || wakes, "no alarm is set for a live task");
            }
        }
    }

    fn check_tasks(&mut self) {
        let mut covered = Vec::new();
        let tasks = self.disk.published.tasks();
        for task in tasks {
            covered.push(format!("{:?}", status(task)));
            covered.extend(task.paused.map(|pause| format!("{pause:?}")));
            covered.extend(task.held.map(|pause| format!("held: {pause:?}")));
            covered.extend(task.questions.values().map(|q| format!("{:?}", q.kind)));
            if let Stage::Ended { end, .. } = &task.stage {
                covered.push(format!("{:?}", end.reason));
            }
        }
        let lives = |id: &&TaskId| self.disk.published.task(**id).is_some_and(|task| !task.has_ended());
        let has_two = |task: &Task| task.children.iter().filter(lives).count() > 1;
        covered.extend(tasks.iter().any(has_two).then(|| "two live sub-tasks of one task".to_owned()));
        covered.extend(
            tasks.iter().any(|task| task.head.depth > 1).then(|| "a sub-task of a sub-task".to_owned()),
        );
        for goal in covered {
            if !self.covered.contains(&goal) {
                self.covered.insert(goal);
            }
        }
    }

    fn check_at_end(&mut self) {
        self.covered.extend(self.audit.steps.iter().map(|(from, to)| format!("{from:?} -> {to:?}")));
        self.covered.extend(self.audit.interventions.iter().cloned());
        self.disk.check_at_end();
        self.outside.check_at_end(&self.disk);
    }

    // Chance and time.

    /// A number below `n`.
    pub(super) fn roll(&mut self, n: u64) -> u64 {
        self.dice.random() % n
    }

    /// Never, if `n` is 0.
    pub(super) fn one_in(&mut self, n: u64) -> bool {
        n > 0 && self.roll(n) == 0
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.roll(from.len() as u64)).expect("an index")]
    }

    /// The daemon's clock.
    pub(super) fn wall(&self) -> Timestamp {
        Timestamp(self.now.0 + self.skew)
    }

    pub(super) fn mint(&mut self) -> Mint {
        Mint::new(self.wall(), self.dice.random()).moved(self.moved)
    }

    /// Schedules within `ms`, for any daemon.
    pub(super) fn after(&mut self, ms: u64, event: Event) {
        self.put(None, ms, event);
    }

    pub(super) fn soon(&mut self, event: Event) {
        self.put(None, 1, event);
    }

    /// Schedules within `ms`, for this daemon only.
    pub(super) fn in_this_daemon(&mut self, ms: u64, event: Event) {
        self.put(Some(self.generation), ms, event);
    }

    /// Happens next in this daemon. No dice are thrown: what comes after stays as it was.
    pub(super) fn at_once(&mut self, event: Event) {
        self.queue.insert((self.now, 0), (Some(self.generation), event));
    }

    fn put(&mut self, generation: Option<u64>, ms: u64, event: Event) {
        let at = self.now.plus(self.roll(ms.max(1)));
        let tie = self.dice.random();
        self.queue.insert((at, tie), (generation, event));
    }

    /// Schedules for `at` by the daemon's clock, for this daemon only.
    pub(super) fn at_wall(&mut self, at: Timestamp, event: Event) {
        let (now, tie) = (self.now.plus(at.since(self.wall())), self.dice.random());
        self.queue.insert((now, tie), (Some(self.generation), event));
    }

    // Reporting.

    pub(super) fn log(&self, words: impl FnOnce() -> String) {
        if self.verbose {
            eprintln!("{:>7} {}", self.now.since(DAWN), words());
        }
    }

    /// Notes that a coverage goal occurred.
    pub(super) fn cover(&mut self, goal: &str) {
        if !self.covered.contains(goal) {
            self.covered.insert(goal.to_owned());
        }
    }

    /// Sends an outcome to the actor, sometimes twice.
    pub(super) fn outcome(&mut self, effect: Effect, input: Input) {
        let input = Box::new(input);
        if self.one_in(self.nature.doubles) {
            let again = Message::Outcome { effect, input: input.clone() };
            self.in_this_daemon(3000, Event::Mail(Box::new(again)));
        }
        self.in_this_daemon(40, Event::Mail(Box::new(Message::Outcome { effect, input })));
    }
}
