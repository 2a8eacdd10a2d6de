//! Memory to disk, and from there to what begins.

use super::{
    Append, AppendId, Driver, Duty, Failure, Gate, Host, Order, State, load::TakingUp, press::Pressed,
};
use crate::{
    effects::{Effect, effects},
    history::changes_hold,
    task::Task,
    view::{Projection, project},
};
use abide_protocol::{
    CallId, TaskId,
    record::{NewRecord, RecordBody},
};
use std::{collections::BTreeSet, mem};

/// Records that the memory has and the disk has not.
#[derive(Debug)]
pub(super) struct Appending<H: Host> {
    pub(super) id: AppendId,
    pub(super) records: Vec<NewRecord>,
    pub(super) urgent: bool,
    asked: Asked<H>,
    /// To be started after the commit.
    later: Vec<Effect>,
    /// Urgent commands that were added on a full disk.
    pub(super) pressed: Vec<Pressed<H>>,
    /// The next of them, once the work that it ends is killed.
    pub(super) killing: Option<super::Message<H>>,
    /// Of these records an append was withdrawn, perhaps too late.
    pub(super) was_withdrawn: bool,
}

/// Who waits for an append.
#[derive(Debug)]
pub(super) enum Asked<H: Host> {
    Nobody,
    Command {
        reply: H::Reply,
        names: Option<TaskId>,
    },
    Deletion(H::Deletion),
    /// The actor itself, which has just read the records.
    TakingUp,
}

impl<H: Host> Appending<H> {
    /// It is not urgent yet, so on a full disk an urgent command joins it.
    pub(super) const fn can_be_pressed(&self) -> bool {
        !self.urgent && self.killing.is_none()
    }
}

impl<H: Host> Driver<H> {
    /// Has records stored that are folded already, and begins what they call for. Without records there is nothing to wait for.
    pub(super) fn append(&mut self, records: Vec<NewRecord>, urgent: bool, asked: Asked<H>) {
        if records.is_empty() {
            self.rest();
            return self.done(asked);
        }
        let appending = Appending {
            id: self.last_append,
            records,
            urgent,
            asked,
            later: Vec::new(),
            pressed: Vec::new(),
            killing: None,
            was_withdrawn: false,
        };
        self.submit(Box::new(appending));
    }

    pub(super) fn submit(&mut self, mut appending: Box<Appending<H>>) {
        appending.later = self.begin(&appending.records);
        self.last_append.0 += 1;
        appending.id = self.last_append;
        self.orders.push_back(Order::Append(Append {
            id: appending.id,
            records: appending.records.clone(),
            tasks: self.projections(&appending.records),
            urgent: appending.urgent,
        }));
        self.state = State::Appending(appending);
    }

    /// Cancels what is not wanted any more, and starts what is new: a model is asked, a tool call is prepared, and both wait at the
    /// gate. Returns what is started after the commit: the first work of a task, since the store refuses a request that was made
    /// before.
    fn begin(&mut self, records: &[NewRecord]) -> Vec<Effect> {
        let wanted = effects(&self.history);
        let (kept, unwanted) = mem::take(&mut self.running).into_iter().partition(|e| wanted.contains(e));
        self.running = kept;
        self.orders.extend(Vec::into_iter(unwanted).map(Order::Cancel));
        if self.duty == Duty::RecordOnly {
            return Vec::new();
        }
        let is_new = |task| {
            let begins =
                |r: &NewRecord| matches!(r.body, RecordBody::TaskStarted(_)) && r.task_id == Some(task);
            records.iter().any(begins)
        };
        let new = wanted.into_iter().filter(|effect| !self.running.contains(effect));
        let (later, now): (Vec<_>, Vec<_>) = new.partition(|effect| is_new(effect.task()));
        for effect in now {
            self.start(effect, Gate::Closed);
        }
        later
    }

    fn start(&mut self, effect: Effect, gate: Gate) {
        self.running.push(effect);
        self.orders.push_back(Order::Start { effect, gate });
    }

    /// How the tasks stand that these records change: their own, those above them, and where something is held or let go, all beneath.
    fn projections(&self, records: &[NewRecord]) -> Vec<Projection> {
        let mut changed: BTreeSet<TaskId> = records.iter().filter_map(|record| record.task_id).collect();
        if self.history.tasks().len() > 1 {
            let above = changed.iter().flat_map(|id| self.history.ancestors(*id)).map(|task| task.id);
            let mut more: Vec<TaskId> = above.collect();
            for holder in records.iter().filter(|record| changes_hold(&record.body)) {
                let beneath =
                    |task: &&Task| holder.task_id.is_some_and(|id| self.history.is_within(task.id, id));
                more.extend(self.history.live().filter(beneath).map(|task| task.id));
            }
            changed.extend(more);
        }
        let tasks = changed.into_iter().filter_map(|id| self.history.task(id));
        tasks.map(|task| project(self.conversation, task)).collect()
    }

    pub(super) fn committed(&mut self, append: AppendId) {
        let Some(appending) = self.answered(append) else { return };
        let Appending { records, asked, later, pressed, killing, .. } = *appending;
        records.iter().for_each(|record| self.tail.count(&record.body));
        self.orders.push_back(Order::OpenGate);
        for effect in later {
            self.start(effect, Gate::Open);
        }
        let output = settled(&records);
        if !output.is_empty() {
            self.orders.push_back(Order::DropOutput(output));
        }
        self.keep_checkpoint();
        self.rest();
        self.done(asked);
        for Pressed { command, told, reply } in pressed {
            let answer = told.map(|()| self.applied(command.task())).map_err(Failure::Refused);
            self.reply(reply, answer);
        }
        if let Some(message) = killing {
            self.state = State::Killing(message);
        }
    }

    /// What was asked for is on disk.
    fn done(&mut self, asked: Asked<H>) {
        match asked {
            Asked::Nobody | Asked::TakingUp => {}
            Asked::Command { reply, names } => {
                let applied = self.applied(names);
                self.reply(reply, Ok(applied));
            }
            Asked::Deletion(reply) => self.erase(reply),
        }
    }

    /// Nothing of the append is on disk, unless it was withdrawn too late: the memory is dropped, and the records tell.
    pub(super) fn append_failed(&mut self, append: AppendId, error: H::Error, contradicts: bool) {
        let Some(appending) = self.answered(append) else { return };
        let Appending { asked, pressed, killing, was_withdrawn, .. } = *appending;
        self.orders.push_back(Order::ShutGate);
        self.cancel_all();
        self.put_back(pressed, killing);
        let mut next = TakingUp::Again;
        match asked {
            Asked::Nobody => {}
            Asked::Command { reply, .. } => self.reply(reply, Err(Failure::Failed(error))),
            Asked::Deletion(reply) => {
                let answer = Err(Failure::Failed(error));
                self.orders.push_back(Order::ReplyDeleted { reply, answer });
            }
            // The records of the append that was withdrawn too late are there.
            Asked::TakingUp if was_withdrawn && contradicts => next = TakingUp::Overtaken,
            Asked::TakingUp => return self.unreadable(error),
        }
        self.orders.push_back(Order::Load);
        self.state = State::Loading(next);
    }

    /// The append that is under way, if that is the one that is answered. One that was withdrawn is nobody's any more.
    fn answered(&mut self, append: AppendId) -> Option<Box<Appending<H>>> {
        match mem::replace(&mut self.state, State::Ready) {
            State::Appending(appending) if appending.id == append => Some(appending),
            other => {
                self.state = other;
                None
            }
        }
    }

    /// Whoever waits for the append is told that there is no daemon for it any more.
    pub(super) fn abandon(&mut self, appending: Appending<H>) {
        let Appending { id, asked, pressed, .. } = appending;
        self.orders.extend([Order::Withdraw(id), Order::ShutGate]);
        match asked {
            Asked::Nobody | Asked::TakingUp => {}
            Asked::Command { reply, .. } => self.reply(reply, Err(Failure::ShuttingDown)),
            Asked::Deletion(reply) => {
                self.orders.push_back(Order::ReplyDeleted { reply, answer: Err(Failure::ShuttingDown) });
            }
        }
        for Pressed { reply, .. } in pressed {
            self.reply(reply, Err(Failure::ShuttingDown));
        }
    }

    pub(super) fn cancel_all(&mut self) {
        self.orders.extend(self.running.drain(..).map(Order::Cancel));
    }
}

/// The attempts whose result these records hold. Nothing was kept of a call that never started.
fn settled(records: &[NewRecord]) -> Vec<(CallId, u32)> {
    let finished = |record: &NewRecord| match &record.body {
        RecordBody::CallFinished(f) if f.attempt > 0 => Some((f.call_id, f.attempt)),
        _ => None,
    };
    records.iter().filter_map(finished).collect()
}
