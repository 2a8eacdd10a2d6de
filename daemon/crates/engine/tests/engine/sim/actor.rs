//! The actor of the conversation, by the same contract as the real one: accept, append, and only then act; a stop kills first
//! and records after; recovery is load, fold, [`Input::Restarted`], advance.

use super::{
    daemon::{Message, is_urgent},
    life::{Event, Life},
    people::Failure,
};
use abide_engine::{
    CallStage, Effect, History, Input, Refusal, accept, advance, effects, handle, is_at_work, wake_at,
};
use abide_protocol::record::{NewRecord, RecordBody};
use std::collections::VecDeque;

#[derive(Default)]
pub(super) struct Actor {
    history: History,
    /// What is under way, each with its job.
    running: Vec<(Effect, u64)>,
    urgent: VecDeque<Message>,
    commands: VecDeque<Message>,
    /// What is left of reading the records.
    loading: VecDeque<Load>,
    writing: Option<Writing>,
    records_only: bool,
    lingers: bool,
}

impl Actor {
    pub(super) fn put(&mut self, message: Message) {
        match &message {
            Message::Command { input, .. } if !is_urgent(input) => self.commands.push_back(message),
            _ => self.urgent.push_back(message),
        }
    }
}

enum Load {
    Restarted(Box<Input>),
    Advance,
}

struct Writing {
    append: u64,
    records: Vec<NewRecord>,
    urgent: bool,
    request: Option<u64>,
    /// The first model call of a task begins after the commit.
    later: Vec<Effect>,
    /// Who went in together with what was held, with what they are told then.
    pressed: Vec<(u64, Input, Result<(), Refusal>)>,
}

impl Life {
    /// Does all that can be done before something outside has to happen.
    pub(super) fn work(&mut self) {
        loop {
            let draining = self.daemon.as_ref().is_some_and(|d| d.draining);
            let Some(actor) = self.actor() else {
                if draining {
                    self.came_by("drained");
                    self.crash();
                }
                return;
            };
            if actor.writing.is_some() {
                return self.press();
            }
            if let Some(load) = actor.loading.pop_front() {
                self.go_on_loading(load);
            } else if let Some(message) = actor.urgent.pop_front().or_else(|| actor.commands.pop_front()) {
                self.handle(message);
            } else if !self.may_go() {
                return;
            } else if draining {
                self.daemon.as_mut().expect("it drains").actor = None;
            } else {
                let actor = self.actor_at_work();
                if !std::mem::replace(&mut actor.lingers, true) {
                    self.in_this_daemon(3000, Event::Linger);
                }
                return;
            }
        }
    }

    fn may_go(&mut self) -> bool {
        let draining = self.daemon.as_ref().is_some_and(|d| d.draining);
        self.actor().is_some_and(|a| a.running.is_empty() && (draining || !a.history.live().any(is_at_work)))
    }

    pub(super) fn linger(&mut self) {
        let may_go = self.may_go();
        let Some(actor) = self.actor() else { return };
        actor.lingers = false;
        if may_go && actor.writing.is_none() && actor.urgent.is_empty() && actor.commands.is_empty() {
            self.daemon.as_mut().expect("it has an actor").actor = None;
            self.came_by("an actor that went");
        }
    }

    /// Reads the records. What they say is under way was interrupted.
    pub(super) fn load(&mut self) {
        let draining = self.daemon.as_ref().is_some_and(|d| d.draining);
        let history = self.disk.replayed();
        assert_eq!(history, self.disk.told, "the records tell the state");
        let interrupted: Vec<_> = history.live().filter(|task| is_at_work(task)).cloned().collect();
        let mut loading = VecDeque::new();
        for task in interrupted {
            let started = task.calls().iter().filter(|c| matches!(c.stage, CallStage::Started { .. }));
            let findings = started.map(|call| self.inspect(call)).collect();
            loading.push_back(Load::Restarted(Box::new(Input::Restarted { task: task.id, findings })));
        }
        loading.push_back(Load::Advance);
        if draining {
            loading.clear();
        }
        let actor = self.actor_at_work();
        actor.history = history;
        actor.records_only = draining;
        actor.loading = loading;
    }

    fn go_on_loading(&mut self, load: Load) {
        let draining = self.daemon.as_ref().is_some_and(|d| d.draining);
        let records = match load {
            Load::Restarted(input) => match self.take(*input) {
                Ok(records) => records,
                Err(refusal) => panic!("the engine takes a restart: {refusal:?}"),
            },
            Load::Advance if draining => return,
            Load::Advance => {
                let mut mint = self.mint();
                advance(&mut self.actor_at_work().history, &mut mint)
            }
        };
        if !records.is_empty() {
            self.write(records, false, None, Vec::new());
        }
    }

    fn handle(&mut self, message: Message) {
        let (request, input) = match message {
            Message::Command { request, input } => (Some(request), self.kill_first(input)),
            Message::Outcome { effect, input } => {
                self.actor_at_work().running.retain(|(running, _)| *running != effect);
                (None, input)
            }
            Message::Wake => (None, Input::Wake),
        };
        let (urgent, wakes) = (is_urgent(&input), matches!(input, Input::Wake));
        let taken = self.take(input);
        if wakes && !self.daemon.as_ref().is_some_and(|d| d.draining) {
            let (next, now) = (self.actor_at_work().history.live().filter_map(wake_at).min(), self.wall());
            assert!(
                next.is_none_or(|at| at > now),
                "a wake that changes nothing is asked for again: {next:?}"
            );
        }
        match taken {
            Ok(records) if records.is_empty() => {
                self.rest();
                if let Some(request) = request {
                    self.reply(request, Ok(()));
                }
            }
            Ok(records) => self.write(records, urgent, request, Vec::new()),
            Err(refusal) => match request {
                Some(request) => self.reply(request, Err(Failure::Refused(refusal))),
                None => {
                    assert!(
                        matches!(refusal, Refusal::Stale | Refusal::Ended(_) | Refusal::NoTask),
                        "an outcome is refused only if it is late: {refusal:?}"
                    );
                    self.came_by("a late outcome");
                }
            },
        }
    }

    /// What an input makes of the memory. While the daemon drains that is all; else also what follows from it.
    fn take(&mut self, input: Input) -> Result<Vec<NewRecord>, Refusal> {
        let draining = self.daemon.as_ref().is_some_and(|d| d.draining);
        let mut mint = self.mint();
        let actor = self.actor_at_work();
        if !draining {
            return handle(&mut actor.history, input, &mut mint);
        }
        let records = accept(&actor.history, input, &mut mint)?;
        records.iter().for_each(|record| actor.history.fold(record));
        Ok(records)
    }

    fn kill_first(&mut self, input: Input) -> Input {
        let Input::Stop { task, mut shown } = input else { return input };
        let running = std::mem::take(&mut self.actor_at_work().running);
        let (killed, rest): (Vec<_>, Vec<_>) = running.into_iter().partition(|(e, _)| e.task() == task);
        self.actor_at_work().running = rest;
        for (effect, job) in killed {
            if matches!(effect, Effect::Model { .. }) {
                shown = self.shown(job);
            }
            self.cancel(job);
        }
        Input::Stop { task, shown }
    }

    // Memory to disk, and from there to what begins.

    fn write(
        &mut self,
        records: Vec<NewRecord>,
        urgent: bool,
        request: Option<u64>,
        pressed: Vec<(u64, Input, Result<(), Refusal>)>,
    ) {
        let later = self.begin(&records);
        let append = self.append(records.clone(), urgent);
        let writing = Writing { append, records, urgent, request, later, pressed };
        self.actor_at_work().writing = Some(writing);
    }

    /// Cancels what is not wanted any more, asks models and prepares tool calls. Returns what is to begin after the commit.
    fn begin(&mut self, records: &[NewRecord]) -> Vec<Effect> {
        let actor = self.actor_at_work();
        let wanted = effects(&actor.history);
        let (kept, dropped): (Vec<_>, Vec<_>) =
            std::mem::take(&mut actor.running).into_iter().partition(|(effect, _)| wanted.contains(effect));
        actor.running = kept;
        let new = wanted.into_iter().filter(|e| !actor.running.iter().any(|(running, _)| running == e));
        let new: Vec<Effect> = new.collect();
        let records_only = actor.records_only;
        for (_, job) in dropped {
            self.cancel(job);
        }
        if records_only {
            return Vec::new();
        }
        if records.iter().any(|record| matches!(record.body, RecordBody::TaskStarted(_))) {
            return new;
        }
        for effect in new {
            self.begin_gated(effect);
        }
        Vec::new()
    }

    /// Starts what is gated until the commit.
    fn begin_gated(&mut self, effect: Effect) {
        let history = std::mem::take(&mut self.actor_at_work().history);
        let job = match effect {
            Effect::Model { .. } => Some(self.ask_model(effect, &history)),
            Effect::Tool { .. } => self.prepare_tool(effect, &history),
        };
        self.actor_at_work().history = history;
        self.actor_at_work().running.extend(job.map(|job| (effect, job)));
    }

    /// On a full disk a stop or an answer is not kept waiting: what waits is taken back and goes in together with it.
    fn press(&mut self) {
        loop {
            let full = self.disk.full;
            let Some(actor) = self.actor() else { return };
            let Some(append) = actor.writing.as_ref().filter(|w| full && !w.urgent).map(|w| w.append) else {
                return;
            };
            if self.disk.is_on_disk(append) {
                return;
            }
            let actor = self.actor_at_work();
            let presses = actor.urgent.iter().position(|m| matches!(m, Message::Command { .. }));
            let Some(Message::Command { request, input }) = presses.and_then(|at| actor.urgent.remove(at))
            else {
                return;
            };
            let input = self.kill_first(input);
            // A refusal, too, rests on what waits: nobody hears of an end that is not on disk.
            let (more, told) = match self.take(input.clone()) {
                Ok(more) => (more, Ok(())),
                Err(refusal) => (Vec::new(), Err(refusal)),
            };
            self.withdraw(append);
            self.came_by("pressed on a full disk");
            let mut writing = self.actor_at_work().writing.take().expect("it is being written");
            writing.records.extend(more);
            writing.pressed.push((request, input, told));
            self.write(writing.records, true, writing.request, writing.pressed);
        }
    }

    pub(super) fn answered(&mut self, append: u64) {
        let Some(stored) = self.stored(append) else { return };
        let Some(actor) = self.daemon.as_mut().and_then(|daemon| daemon.actor.as_mut()) else { return };
        let Some(writing) = actor.writing.take_if(|w| w.append == append) else { return };
        match stored {
            Ok(()) => {
                assert_eq!(actor.history, self.disk.told, "what is stored is what is in memory");
                for effect in writing.later {
                    self.begin_gated(effect);
                }
                for (_, job) in self.actor_at_work().running.clone() {
                    self.open_gate(job);
                }
                self.forget_notes(&writing.records);
                self.rest();
                if let Some(request) = writing.request {
                    self.reply(request, Ok(()));
                }
                for (request, _, told) in writing.pressed {
                    self.reply(request, told.map_err(Failure::Refused));
                }
            }
            Err(_) => self.append_failed(writing),
        }
    }

    /// Drops the memory and reads the records again.
    fn append_failed(&mut self, writing: Writing) {
        self.came_by("an append that failed");
        for (_, job) in std::mem::take(&mut self.actor_at_work().running) {
            self.cancel(job);
        }
        let back = writing.pressed.into_iter().rev();
        let back = back.map(|(request, input, _)| Message::Command { request, input });
        for message in back {
            self.actor_at_work().urgent.push_front(message);
        }
        if let Some(request) = writing.request {
            self.reply(request, Err(Failure::Store));
        }
        self.load();
    }

    /// Until the next input, or the next moment that a task waits for.
    fn rest(&mut self) {
        let at = self.actor_at_work().history.live().filter_map(wake_at).min();
        self.set_alarm(at);
    }
}
