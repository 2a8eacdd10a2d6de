//! Runs the conversation's driver, the one that the daemon runs, on a simulated disk, model and tools. Nothing is decided here: what
//! is not an order is an audit of the orders.

use super::{
    disk::AppendError,
    life::{Event, Life},
};
use abide_engine::{
    Checkpoint, Effect, Refusal, Shown,
    driver::{self, Append, AppendId, Driver, Gate, Host, Lane, Order, StartedCall, Wants},
    effects, wake_at,
};
use abide_protocol::{
    ConversationId, RecordId,
    record::{NewRecord, RecordBody},
};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

/// The types of what passes through the driver.
#[derive(Debug)]
pub(super) struct Simulated;

impl Host for Simulated {
    /// The number of the request.
    type Reply = u64;
    type Deletion = u64;
    type Error = AppendError;
}

pub(super) type Message = driver::Message<Simulated>;

pub(super) const CONVERSATION: ConversationId = ConversationId(uuid::Uuid::nil());

/// Few enough that short lives have checkpoints too.
const CHECKPOINT_SPACING: usize = 12;

pub(super) struct Actor {
    driver: Driver<Simulated>,
    /// Every attempt that was started, each with its job.
    jobs: Vec<(Effect, u64)>,
    urgent: VecDeque<Message>,
    commands: VecDeque<Message>,
    /// The driver's appends, by the disk's number.
    appends: BTreeMap<u64, AppendId>,
    /// The newest, until it is answered.
    current: Option<Current>,
    /// The records are being read, or what was found in them is being appended.
    takes_up: bool,
    knows_full: bool,
    knows_drain: bool,
    lingers: bool,
    /// It is not the conversation's actor any more; what it leaves to its successor.
    left: Option<Vec<Message>>,
    /// Records that were made before the daemon drained.
    before_drain: BTreeSet<RecordId>,
    /// What the newest of them call for.
    wanted_before_drain: Vec<Effect>,
}

#[derive(Clone, Copy)]
struct Current {
    append: AppendId,
    number: u64,
    urgent: bool,
}

impl Default for Actor {
    fn default() -> Self {
        Self {
            driver: Driver::new(CONVERSATION, CHECKPOINT_SPACING),
            jobs: Vec::new(),
            urgent: VecDeque::new(),
            commands: VecDeque::new(),
            appends: BTreeMap::new(),
            current: None,
            takes_up: true,
            knows_full: false,
            knows_drain: false,
            lingers: false,
            left: None,
            before_drain: BTreeSet::new(),
            wanted_before_drain: Vec::new(),
        }
    }
}

impl Actor {
    pub(super) fn put(&mut self, message: Message) {
        match message.lane() {
            Lane::Urgent => self.urgent.push_back(message),
            Lane::Command => self.commands.push_back(message),
        }
    }

    fn lingers(&self) -> bool {
        self.left.is_none() && matches!(self.driver.wants(), Wants::Message { linger: Some(_) })
    }

    fn take_job(&mut self, effect: Effect) -> Option<u64> {
        let at = self.jobs.iter().position(|(started, _)| *started == effect)?;
        Some(self.jobs.remove(at).1)
    }
}

impl Life {
    /// Does all that can be done before something outside has to happen.
    pub(super) fn work(&mut self) {
        loop {
            self.tell_of_drain();
            while let Some(order) = self.actor().and_then(|actor| actor.driver.next_order()) {
                self.carry_out(order);
            }
            if self.has_gone() {
                continue;
            }
            let Some(event) = self.next_event() else { return };
            self.tell(event);
        }
    }

    /// It has left, and so has the last message: the next actor is its successor.
    fn has_gone(&mut self) -> bool {
        let goes = |actor: &Actor| {
            let waits = matches!(actor.driver.wants(), Wants::Message { .. });
            waits && actor.left.is_some() && actor.urgent.is_empty() && actor.commands.is_empty()
        };
        let Some(daemon) = &mut self.daemon else { return false };
        let Some(left) = daemon.actor.take_if(|actor| goes(actor)).and_then(|actor| actor.left) else {
            return false;
        };
        self.came_by("an actor that went");
        for message in left {
            self.came_by("a message passed on");
            self.deliver(message);
        }
        true
    }

    fn tell(&mut self, event: driver::Event<Simulated>) {
        let mut mint = self.mint();
        self.actor_at_work().driver.on(event, &mut mint);
    }

    /// The first thing that an actor learns.
    fn tell_of_drain(&mut self) {
        let draining = self.daemon.as_ref().is_some_and(|daemon| daemon.draining);
        if self.actor().is_some_and(|a| draining && !std::mem::replace(&mut a.knows_drain, true)) {
            self.tell(driver::Event::Drain);
        }
    }

    fn next_event(&mut self) -> Option<driver::Event<Simulated>> {
        let (full, draining, cutting) =
            (self.disk.full, self.daemon.as_ref()?.draining, self.daemon.as_ref()?.cutting);
        let Some(actor) = self.actor() else {
            if draining {
                self.came_by("drained");
                self.crash();
            }
            return None;
        };
        let wants = actor.driver.wants();
        let hears = matches!(wants, Wants::Message { .. } | Wants::UrgentMessage);
        if cutting && hears && actor.left.is_none() {
            return Some(driver::Event::CutOff);
        }
        match wants {
            Wants::Turn => Some(driver::Event::Turn),
            Wants::Disk | Wants::UrgentMessage if full != actor.knows_full => {
                actor.knows_full = full;
                Some(driver::Event::Disk { full })
            }
            Wants::Nothing | Wants::Disk => None,
            Wants::UrgentMessage => actor.urgent.pop_front().map(driver::Event::Message),
            Wants::Message { linger } => {
                actor.takes_up = false;
                let next = actor.urgent.pop_front().or_else(|| actor.commands.pop_front());
                next.map(driver::Event::Message).or_else(|| self.idle(linger))
            }
        }
    }

    fn idle(&mut self, linger: Option<Duration>) -> Option<driver::Event<Simulated>> {
        if linger? == Duration::ZERO {
            return Some(driver::Event::LingerOver);
        }
        if !std::mem::replace(&mut self.actor_at_work().lingers, true) {
            self.in_this_daemon(3000, Event::Linger);
        }
        None
    }

    pub(super) fn linger(&mut self) {
        let Some(actor) = self.actor() else { return };
        actor.lingers = false;
        if actor.lingers() {
            self.tell(driver::Event::LingerOver);
        }
    }

    /// A message has come; now and then in the moment in which the actor has waited long enough.
    pub(super) fn came(&mut self) {
        if self.actor().is_some_and(|actor| actor.lingers()) && self.one_in(8) {
            self.tell(driver::Event::LingerOver);
        }
    }

    fn carry_out(&mut self, order: Order<Simulated>) {
        match order {
            Order::Load => {
                self.actor_at_work().takes_up = true;
                if self.one_in(3) { self.in_this_daemon(20, Event::Loaded) } else { self.loaded() }
            }
            Order::KeepCheckpoint(checkpoint) => self.keep_checkpoint(&checkpoint),
            Order::Inspect(calls) => {
                let findings = calls.into_iter().map(|started| self.inspect_started(started)).collect();
                self.tell(driver::Event::Inspected(findings));
            }
            Order::Append(append) => self.submit(append),
            Order::Withdraw(append) => {
                let current = self.actor_at_work().current.take().expect("it is under way");
                assert_eq!(current.append, append, "what is withdrawn is under way");
                assert!(!current.urgent, "an urgent append is withdrawn");
                self.withdraw(current.number);
            }
            Order::Start { effect, gate } => self.start_effect(effect, gate),
            Order::Cancel(effect) => self.cancel_effect(effect),
            Order::Kill(effects) => self.kill(effects),
            Order::OpenGate => {
                for (_, job) in self.actor_at_work().jobs.clone() {
                    self.open_gate(job);
                }
            }
            Order::ShutGate => {
                for (_, job) in self.actor_at_work().jobs.clone() {
                    self.shut_gate(job);
                }
            }
            Order::DropOutput(attempts) => self.forget_notes(&attempts),
            Order::SetAlarm(at) => self.set_alarm(at),
            Order::Reply { reply, answer } => self.reply(reply, answer.map(|_| ())),
            Order::Erase => self.erase(),
            Order::ReplyDeleted { reply, answer } => self.reply(reply, answer.map(|_| ())),
            Order::OutcomeRefused(refusal) => {
                let late = matches!(refusal, Refusal::Stale | Refusal::Ended(_) | Refusal::NoTask);
                assert!(late, "an outcome is refused only if it is late: {refusal:?}");
                self.came_by("a late outcome");
            }
            Order::Leave => self.actor_at_work().left = Some(Vec::new()),
            Order::PassOn(message) => {
                self.actor_at_work().left.as_mut().expect("it has left").push(message);
            }
        }
    }

    /// The state that the records come to, read as the daemon reads it.
    pub(super) fn loaded(&mut self) {
        let (history, tail) = self.disk.read();
        if self.disk.checkpoint.is_some() {
            self.came_by("a reading from a checkpoint");
        }
        assert_eq!(history, self.disk.told, "the records tell the state");
        self.tell(driver::Event::Loaded { history: Box::new(history), tail });
    }

    /// The disk may fill up or break before the checkpoint is stored; then the one before stays.
    fn keep_checkpoint(&mut self, checkpoint: &Checkpoint) {
        if !self.disk.full && !self.disk.broken && !self.one_in(4) {
            self.disk.keep_checkpoint(checkpoint);
        }
    }

    fn inspect_started(&mut self, started: StartedCall) -> abide_engine::Finding {
        let task = self.disk.told.task(started.task);
        let call = task.and_then(|task| task.call(started.call)).expect("the call is on disk").clone();
        assert_eq!(call.attempts, started.attempt);
        self.inspect(&call)
    }

    // Memory to disk.

    fn submit(&mut self, append: Append) {
        self.look_at_append(&append.records);
        let Append { id, records, tasks, urgent } = append;
        let may_fail = !self.actor_at_work().takes_up;
        let number = self.append(records, tasks, urgent, may_fail);
        let actor = self.actor_at_work();
        actor.appends.insert(number, id);
        actor.current = Some(Current { append: id, number, urgent });
        if urgent && self.disk.full {
            self.came_by("pressed on a full disk");
        }
    }

    /// A stop kills first and records after, and nothing begins any more while the daemon drains.
    fn look_at_append(&mut self, records: &[NewRecord]) {
        for record in records {
            if let RecordBody::TaskEnded(_) = record.body {
                let jobs = self.actor_at_work().jobs.clone();
                let mut own = jobs.into_iter().filter(|(effect, _)| Some(effect.task()) == record.task_id);
                let alive = own.find(|(_, job)| self.outside.is_alive(*job));
                assert_eq!(alive, None, "an end is recorded while work of the task runs");
            }
            let actor = self.actor_at_work();
            if !actor.knows_drain {
                actor.before_drain.insert(record.id);
            } else if matches!(record.body, RecordBody::ModelRequested(_) | RecordBody::CallStarted(_)) {
                let before = actor.before_drain.contains(&record.id);
                assert!(before, "something begins while the daemon drains: {record:?}");
            }
        }
        let actor = self.actor_at_work();
        if !actor.knows_drain {
            actor.wanted_before_drain = effects(actor.driver.history());
        }
    }

    pub(super) fn answered(&mut self, number: u64) {
        let Some(stored) = self.stored(number) else { return };
        let Some(actor) = self.daemon.as_mut().and_then(|daemon| daemon.actor.as_mut()) else { return };
        let Some(append) = actor.appends.remove(&number) else { return };
        let current = actor.current.take_if(|current| current.number == number).is_some();
        match stored {
            Ok(()) => {
                let is_memory = *actor.driver.history() == self.disk.told;
                assert!(is_memory || !current, "what is stored is what is in memory");
                self.tell(driver::Event::Committed(append));
            }
            Err(error) => {
                let contradicts = error == AppendError::Invalid;
                self.came_by("an append that failed");
                self.tell(driver::Event::AppendFailed { append, error, contradicts });
            }
        }
    }

    fn erase(&mut self) {
        let actor = self.actor_at_work();
        for (_, job) in actor.jobs.clone() {
            assert!(!self.outside.is_alive(job), "what is deleted still works");
        }
        self.actor_at_work().jobs.clear();
        if self.disk.broken {
            return self.tell(driver::Event::Erased(Err(AppendError::Failed)));
        }
        let records = self.disk.erase();
        self.audit.forget();
        self.outside.forget();
        self.people.forget_tasks();
        self.came_by("a deletion");
        self.tell(driver::Event::Erased(Ok(records)));
    }

    // What begins and ends.

    fn start_effect(&mut self, effect: Effect, gate: Gate) {
        let daemon = self.daemon.as_mut().expect("it has an actor");
        let actor = daemon.actor.take().expect("it gives the order");
        let may_begin = !actor.knows_drain || actor.wanted_before_drain.contains(&effect);
        assert!(may_begin, "an attempt begins while the daemon drains: {effect:?}");
        let history = actor.driver.history();
        let job = match effect {
            Effect::Model { .. } => Some(self.ask_model(effect, history)),
            Effect::Tool { .. } => self.prepare_tool(effect, history),
        };
        self.daemon.as_mut().expect("it has an actor").actor = Some(actor);
        let Some(job) = job else { return };
        self.actor_at_work().jobs.push((effect, job));
        if gate == Gate::Open {
            self.open_gate(job);
        }
    }

    fn cancel_effect(&mut self, effect: Effect) {
        if let Some(job) = self.actor_at_work().take_job(effect) {
            self.cancel(job);
        }
    }

    fn kill(&mut self, effects: Vec<Effect>) {
        let mut shown = Shown::new();
        for effect in effects {
            self.cancel_effect(effect);
            if let Effect::Model { item, .. } = effect
                && let Some(text) = self.outside.seen(item)
            {
                shown.insert(item, text);
            }
        }
        self.tell(driver::Event::Killed(shown));
    }

    // Audits.

    /// What has to hold whenever nothing more can be done at once.
    pub(super) fn look_at_actor(&self) {
        let Some(daemon) = &self.daemon else { return };
        let Some(actor) = &daemon.actor else { return };
        let waits = actor.current.is_some_and(|current| !current.urgent);
        if self.disk.full && waits {
            let pressing = actor.urgent.iter().find(|message| message.presses());
            assert!(pressing.is_none(), "somebody waits for room on a full disk: {pressing:?}");
        }
        let rests = matches!(actor.driver.wants(), Wants::Message { .. }) && actor.left.is_none();
        if !rests || actor.knows_drain {
            return;
        }
        let told = &self.disk.told;
        let next = told.live().filter_map(wake_at).min();
        assert_eq!(daemon.alarm, next, "the alarm is for the next moment");
        let wanted = effects(told);
        for effect in &wanted {
            let was_started = actor.jobs.iter().any(|(started, _)| started == effect);
            assert!(was_started, "{effect:?} was never started");
        }
        for (effect, job) in &actor.jobs {
            let alive = self.outside.is_alive(*job);
            assert!(!alive || wanted.contains(effect), "{effect:?} runs and is not wanted");
        }
    }
}
