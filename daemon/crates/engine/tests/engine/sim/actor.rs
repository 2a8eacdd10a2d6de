//! The simulated host of the conversation's driver: carries out its orders on the simulated disk, model and
//! tools, and checks them.

use super::{
    disk::AppendError,
    life::{Event, Life},
};
use abide_engine::{
    CallStage, Effect, History, HistorySnapshot, Refusal, Shown,
    driver::{
        self, Append, AppendId, CutOff, Driver, Gate, Host, Lane, Order, Predecessor, StartedCall, Wants,
    },
    effects, wake_at,
};
use abide_protocol::{
    ConversationId, RecordId, TaskId,
    record::{ClockMoved, NewRecord, RecordBody},
};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

/// The simulation as the driver's host.
#[derive(Debug)]
pub(super) struct Simulated;

impl Host for Simulated {
    /// The number of the person's request.
    type Reply = u64;
    type Deletion = u64;
    type Error = AppendError;
}

pub(super) type Message = driver::Message<Simulated>;

pub(super) const CONVERSATION: ConversationId = ConversationId(uuid::Uuid::nil());

/// Small enough that short lives have snapshots too.
const SNAPSHOT_SPACING: usize = 12;

pub(super) struct Actor {
    driver: Driver<Simulated>,
    /// Every attempt that was started and not cancelled, with its job.
    jobs: Vec<(Effect, u64)>,
    urgent: VecDeque<Message>,
    commands: VecDeque<Message>,
    /// The driver's number of each append, by the disk's number.
    appends: BTreeMap<u64, AppendId>,
    /// The newest append, until it is answered or withdrawn.
    current: Option<Current>,
    /// The records are being loaded, or the records of the recovery are being appended.
    is_recovering: bool,
    /// The state of the disk that the driver was last sent.
    knows_full: bool,
    /// The driver was sent [`driver::Event::Drain`].
    knows_drain: bool,
    /// The driver was sent [`driver::Event::Hold`], and no [`driver::Event::Release`] since.
    knows_hold: bool,
    /// An append of a hold was withdrawn, and its records are in the next one.
    withdrew_held: bool,
    linger_scheduled: bool,
    /// The messages for the next actor, once this one has left.
    passed_on: Option<Vec<Message>>,
    /// Records that were appended when they might be.
    before_rest: BTreeSet<RecordId>,
    /// The attempts that should be running after the newest of them.
    wanted_before_rest: Vec<Effect>,
}

#[derive(Clone, Copy)]
struct Current {
    append: AppendId,
    number: u64,
    urgent: bool,
}

impl Actor {
    pub(super) fn after(predecessor: Predecessor, clock: ClockMoved) -> Self {
        Self {
            driver: Driver::new(CONVERSATION, SNAPSHOT_SPACING, predecessor, clock),
            jobs: Vec::new(),
            urgent: VecDeque::new(),
            commands: VecDeque::new(),
            appends: BTreeMap::new(),
            current: None,
            is_recovering: true,
            knows_full: false,
            knows_drain: false,
            knows_hold: false,
            withdrew_held: false,
            linger_scheduled: false,
            passed_on: None,
            before_rest: BTreeSet::new(),
            wanted_before_rest: Vec::new(),
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

    /// No work may begin, except what a load found interrupted.
    const fn rests(&self) -> bool {
        self.knows_drain || (self.knows_hold && !self.is_recovering)
    }

    /// The tasks' next actions are in the append that is made now. An append that was withdrawn is the
    /// beginning of the next one.
    pub(super) fn takes_acts(&mut self) -> bool {
        !self.knows_hold && !std::mem::take(&mut self.withdrew_held)
    }

    /// An append was withdrawn in which the tasks do (or do not) act.
    pub(super) const fn withdrew(&mut self, acts: bool) {
        self.withdrew_held = !acts;
    }

    /// No attempt runs.
    pub(super) fn is_at_boundary(&self) -> bool {
        let waits = matches!(self.driver.wants(), Wants::Message { .. });
        self.knows_hold && self.jobs.is_empty() && waits
    }

    fn is_lingering(&self) -> bool {
        self.passed_on.is_none() && matches!(self.driver.wants(), Wants::Message { linger: Some(_) })
    }

    fn take_job(&mut self, effect: Effect) -> Option<u64> {
        let at = self.jobs.iter().position(|(started, _)| *started == effect)?;
        Some(self.jobs.remove(at).1)
    }
}

impl Life {
    /// Runs the actor until it waits for an event of the simulation.
    pub(super) fn work(&mut self) {
        loop {
            self.announce_hold();
            self.announce_drain();
            while let Some(order) = self.actor().and_then(|actor| actor.driver.next_order()) {
                self.carry_out(order);
            }
            if self.replace_left_actor() {
                continue;
            }
            let Some(event) = self.next_event() else { return };
            // As the daemon's actor does. (An outcome may be that of an earlier start of the same work on
            // files.)
            if let driver::Event::Message(Message::Outcome { effect, .. }) = &event
                && !effect.ends_with_its_task()
            {
                self.cancel_effect(*effect);
            }
            self.send(event);
        }
    }

    /// Ends an actor that has left and whose mailbox is empty; the messages that it passed on start the next
    /// one.
    fn replace_left_actor(&mut self) -> bool {
        let is_done = |actor: &Actor| {
            let waits = matches!(actor.driver.wants(), Wants::Message { .. });
            waits && actor.passed_on.is_some() && actor.urgent.is_empty() && actor.commands.is_empty()
        };
        let Some(daemon) = &mut self.daemon else { return false };
        let Some(messages) = daemon.actor.take_if(|a| is_done(a)).and_then(|actor| actor.passed_on) else {
            return false;
        };
        self.cover("an actor that left");
        for message in messages {
            self.cover("a message passed on");
            self.deliver(message);
        }
        true
    }

    fn send(&mut self, event: driver::Event<Simulated>) {
        let mut mint = self.mint();
        self.running_actor().driver.on(event, &mut mint);
    }

    /// Sends a hold or its release before any other event, once.
    fn announce_hold(&mut self) {
        let holding = self.daemon.as_ref().is_some_and(|daemon| daemon.holding);
        if self.actor().is_some_and(|a| std::mem::replace(&mut a.knows_hold, holding) != holding) {
            self.send(if holding { driver::Event::Hold } else { driver::Event::Release });
        }
    }

    /// Sends a drain before any other event, once.
    fn announce_drain(&mut self) {
        let draining = self.daemon.as_ref().is_some_and(|daemon| daemon.draining);
        if self.actor().is_some_and(|a| draining && !std::mem::replace(&mut a.knows_drain, true)) {
            self.send(driver::Event::Drain);
        }
    }

    fn next_event(&mut self) -> Option<driver::Event<Simulated>> {
        let (full, draining, cutting) =
            (self.disk.full, self.daemon.as_ref()?.draining, self.daemon.as_ref()?.cutting);
        let Some(actor) = self.actor() else {
            if draining {
                self.drained();
            }
            return None;
        };
        let wants = actor.driver.wants();
        let hears = matches!(wants, Wants::Message { .. } | Wants::UrgentMessage);
        if cutting && hears && actor.passed_on.is_none() {
            return Some(driver::Event::CutOff);
        }
        match wants {
            Wants::HandleDeferred => Some(driver::Event::HandleDeferred),
            Wants::Disk | Wants::UrgentMessage | Wants::MessageToDefer if full != actor.knows_full => {
                actor.knows_full = full;
                Some(driver::Event::Disk { full })
            }
            Wants::Nothing | Wants::Disk => None,
            Wants::UrgentMessage | Wants::MessageToDefer => {
                actor.urgent.pop_front().map(driver::Event::Message)
            }
            Wants::Message { linger } => {
                actor.is_recovering = false;
                let next = actor.urgent.pop_front().or_else(|| actor.commands.pop_front());
                next.map(driver::Event::Message).or_else(|| self.idle(linger))
            }
        }
    }

    fn idle(&mut self, linger: Option<Duration>) -> Option<driver::Event<Simulated>> {
        if linger? == Duration::ZERO {
            return Some(driver::Event::LingerOver);
        }
        if !std::mem::replace(&mut self.running_actor().linger_scheduled, true) {
            self.in_this_daemon(3000, Event::Linger);
        }
        None
    }

    pub(super) fn linger(&mut self) {
        let Some(actor) = self.actor() else { return };
        actor.linger_scheduled = false;
        if actor.is_lingering() {
            self.send(driver::Event::LingerOver);
        }
    }

    /// A message has arrived. Sometimes the actor's linger time ends before it reads the message.
    pub(super) fn message_arrived(&mut self) {
        if self.actor().is_some_and(|actor| actor.is_lingering()) && self.one_in(8) {
            self.send(driver::Event::LingerOver);
        }
    }

    fn carry_out(&mut self, order: Order<Simulated>) {
        match order {
            Order::Load => {
                self.running_actor().is_recovering = true;
                self.cancel_all();
                if self.one_in(3) { self.in_this_daemon(20, Event::Loaded) } else { self.loaded() }
            }
            Order::Reread => {
                self.cover("a reading while attempts go on");
                self.log(|| "    reads again".to_owned());
                self.loaded();
            }
            Order::KeepSnapshot(snapshot) => self.keep_snapshot(&snapshot),
            Order::Inspect(calls) => {
                let findings = calls.into_iter().map(|started| self.inspect_started(started)).collect();
                self.send(driver::Event::Inspected(findings));
            }
            Order::Append(append) => self.submit(append),
            Order::Withdraw(append) => {
                let current = self.running_actor().current.take().expect("it is under way");
                assert_eq!(current.append, append, "only the append under way is withdrawn");
                assert!(!current.urgent, "an urgent append is withdrawn");
                self.withdraw(current.number);
            }
            Order::Start { effect, gate } => self.start_effect(effect, gate),
            Order::Kill(cut_off) => self.kill(cut_off),
            Order::OpenGate => {
                for (_, job) in self.running_actor().jobs.clone() {
                    self.open_gate(job);
                }
            }
            Order::DropGate => {
                for (_, job) in self.running_actor().jobs.clone() {
                    self.drop_gate(job);
                }
            }
            Order::DropOutput(calls) => self.forget_notes(&calls),
            Order::SetAlarm(at) => {
                let clock = self.running_actor().driver.clock();
                self.set_alarm(at, clock);
            }
            Order::Reply { reply, answer } => {
                self.reply(reply, answer.map(|applied| applied.task.map(|task| task.id)));
            }
            Order::Erase => self.erase(),
            Order::ReplyDeleted { reply, answer } => self.reply(reply, answer.map(|_| None)),
            Order::OutcomeRefused(refusal) => {
                let late = matches!(refusal, Refusal::Stale | Refusal::Ended(_) | Refusal::NoTask);
                assert!(late, "an outcome is refused only if it is late: {refusal:?}");
                self.cover("a late outcome");
            }
            Order::Leave => {
                self.cancel_all();
                self.running_actor().passed_on = Some(Vec::new());
            }
            Order::PassOn(message) => {
                self.running_actor().passed_on.as_mut().expect("it has left").push(message);
            }
        }
    }

    /// Loads the history as the daemon does, from the snapshot on.
    pub(super) fn loaded(&mut self) {
        let (history, tail) = self.disk.read();
        if self.disk.snapshot.is_some() {
            self.cover("a load from a snapshot");
        }
        assert_eq!(history, self.disk.published, "the loaded history is the published one");
        self.send(driver::Event::Loaded { history: Box::new(history), tail });
    }

    /// The disk may fill up or break before the snapshot is stored; then the previous one stays.
    fn keep_snapshot(&mut self, snapshot: &HistorySnapshot) {
        if !self.disk.full && !self.disk.broken && !self.one_in(4) {
            self.disk.keep_snapshot(snapshot);
        }
    }

    fn inspect_started(&mut self, started: StartedCall) -> abide_engine::Finding {
        let task = self.disk.published.task(started.task);
        let call = task.and_then(|task| task.call(started.call)).expect("the call is on disk").clone();
        assert_eq!(call.attempts, started.attempt);
        self.inspect(&call)
    }

    // Appends.

    fn submit(&mut self, append: Append) {
        self.check_append(&append.records);
        if has_several_replies(&append.records) {
            self.cover("several replies in one append");
        }
        let Append { id, records, tasks, urgent } = append;
        let may_fail = !self.running_actor().is_recovering;
        let number = self.append(records, tasks, urgent, may_fail);
        let actor = self.running_actor();
        actor.appends.insert(number, id);
        actor.current = Some(Current { append: id, number, urgent });
        if urgent && self.disk.full {
            self.cover("an urgent append on a full disk");
        }
    }

    /// Checks that a task's attempts were killed before its end is recorded, and that nothing begins while
    /// the daemon drains or holds.
    fn check_append(&mut self, records: &[NewRecord]) {
        for record in records {
            if let RecordBody::TaskEnded(_) = record.body {
                let jobs = self.running_actor().jobs.clone();
                let mut own = jobs.into_iter().filter(|(effect, _)| {
                    effect.ends_with_its_task() && Some(effect.task()) == record.task_id
                });
                let alive = own.find(|(_, job)| self.outside.is_alive(*job));
                assert_eq!(alive, None, "an end is recorded while an attempt of the task runs");
            }
            let actor = self.running_actor();
            let begins = matches!(record.body, RecordBody::ModelRequested(_) | RecordBody::CallStarted(_));
            if actor.rests() && begins && !actor.before_rest.contains(&record.id) {
                let may_act = record.task_id.is_some_and(|task| self.may_act_in_hold(task));
                assert!(may_act, "an attempt is recorded while the daemon drains or holds: {record:?}");
            }
            // A withdrawn append comes again.
            self.running_actor().before_rest.insert(record.id);
        }
        let actor = self.running_actor();
        if !actor.rests() {
            actor.wanted_before_rest = effects(actor.driver.history());
        }
    }

    /// In a hold a task acts if running code has started it, or one above it. The code may have ended in the
    /// append that is made now.
    fn may_act_in_hold(&self, task: TaskId) -> bool {
        let actor = self.daemon.as_ref().and_then(|daemon| daemon.actor.as_ref());
        let held = actor.filter(|actor| !actor.knows_drain);
        held.is_some_and(|actor| serves_code(actor.driver.history(), &self.disk.published, task))
    }

    pub(super) fn answered(&mut self, number: u64) {
        let Some(stored) = self.stored(number) else { return };
        let Some(actor) = self.daemon.as_mut().and_then(|daemon| daemon.actor.as_mut()) else { return };
        let Some(append) = actor.appends.remove(&number) else { return };
        let current = actor.current.take_if(|current| current.number == number).is_some();
        match stored {
            Ok(()) => {
                let is_memory = *actor.driver.history() == self.disk.published;
                assert!(is_memory || !current, "after a commit the history in memory is the published one");
                self.send(driver::Event::Committed(append));
            }
            Err(error) => {
                let contradicts = error == AppendError::Invalid;
                self.cover("an append that failed");
                self.send(driver::Event::AppendFailed { append, error, contradicts });
            }
        }
    }

    fn erase(&mut self) {
        let actor = self.running_actor();
        for (_, job) in actor.jobs.clone() {
            assert!(!self.outside.is_alive(job), "an attempt runs in a deleted conversation");
        }
        self.running_actor().jobs.clear();
        if self.disk.broken {
            return self.send(driver::Event::Erased(Err(AppendError::Failed)));
        }
        let records = self.disk.erase();
        self.audit.forget();
        self.outside.forget();
        self.people.forget_tasks();
        self.cover("a deletion");
        self.send(driver::Event::Erased(Ok(records)));
    }

    // Attempts.

    fn start_effect(&mut self, effect: Effect, gate: Gate) {
        let may_act = self.may_act_in_hold(effect.task());
        let daemon = self.daemon.as_mut().expect("it has an actor");
        let actor = daemon.actor.take().expect("it gives the order");
        let in_hold = !actor.knows_drain && !effect.ends_with_its_task();
        let may_begin = !actor.rests() || actor.wanted_before_rest.contains(&effect) || in_hold || may_act;
        assert!(may_begin, "an attempt begins while the daemon drains or holds: {effect:?}");
        let history = actor.driver.history();
        let job = match effect {
            Effect::Model { .. } => Some(self.ask_model(effect, history)),
            Effect::Tool { .. } => self.prepare_tool(effect, history),
            Effect::Checkpoint { .. } | Effect::Undo { .. } => Some(self.work_on_files(effect)),
        };
        self.daemon.as_mut().expect("it has an actor").actor = Some(actor);
        let Some(job) = job else { return };
        self.running_actor().jobs.push((effect, job));
        if gate == Gate::Open {
            self.open_gate(job);
        }
    }

    fn cancel_effect(&mut self, effect: Effect) {
        if let Some(job) = self.running_actor().take_job(effect) {
            self.cancel(job);
        }
    }

    fn cancel_all(&mut self) {
        for (effect, _) in self.running_actor().jobs.clone() {
            self.cancel_effect(effect);
        }
    }

    fn kill(&mut self, cut_off: CutOff) {
        for effect in cut_off.attempts {
            self.cancel_effect(effect);
        }
        let shown = |item| Some((item, self.outside.shown(item)?));
        let shown: Shown = cut_off.replies.into_iter().filter_map(shown).collect();
        self.send(driver::Event::Killed(shown));
    }

    // Audits.

    /// Checks the actor whenever it waits.
    pub(super) fn check_actor(&self) {
        let Some(daemon) = &self.daemon else { return };
        let Some(actor) = &daemon.actor else { return };
        let waits = actor.current.is_some_and(|current| !current.urgent);
        if self.disk.full && waits {
            let waiting = actor.urgent.iter().find(|message| message.may_join());
            assert!(waiting.is_none(), "an urgent command waits for room on a full disk: {waiting:?}");
        }
        let is_ready = matches!(actor.driver.wants(), Wants::Message { .. }) && actor.passed_on.is_none();
        if !is_ready || actor.knows_drain {
            return;
        }
        let published = &self.disk.published;
        let next = published.live().filter_map(wake_at).min();
        if !actor.knows_hold {
            assert_eq!(daemon.alarm, next, "the alarm is set for the earliest wake-up time");
        }
        let wanted = effects(published);
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

/// `published` is the state before the append that is made now.
fn serves_code(now: &History, published: &History, task: TaskId) -> bool {
    let runs = |history: &History, caller: TaskId, call| {
        let call = history.task(caller).and_then(|caller| caller.call(call));
        call.is_some_and(|call| matches!(call.stage, CallStage::Started { .. }))
    };
    let mut next = now.task(task);
    while let Some(task) = next {
        if let Some((caller, by)) = task.head.parent_id.zip(task.head.forked_by)
            && (runs(now, caller, by.call_id) || runs(published, caller, by.call_id))
        {
            return true;
        }
        next = task.head.parent_id.and_then(|parent| now.task(parent));
    }
    false
}

/// Whether the append has the outcomes of several attempts.
pub(super) fn has_several_replies(records: &[NewRecord]) -> bool {
    records.iter().filter(|record| matches!(record.body, RecordBody::Reply(_))).count() > 1
}
