//! The append that is under way: which attempts start before it commits and which after, and who is answered
//! when it commits or fails.

use super::{
    Append, AppendId, Driver, Duty, Failure, Gate, Host, Order, State,
    appending::{Appending, Joined, Waiter},
    load::LoadReason,
};
use crate::{
    decide::{
        effect::Effect,
        effects::effects,
        view::{Projection, project},
    },
    state::{fold::changes_hold, task::Task},
};
use abide_protocol::{
    CallId, TaskId,
    record::{NewRecord, RecordBody},
};
use std::{collections::BTreeSet, mem};

impl<H: Host> Driver<H> {
    /// Orders an append of records that are already folded, and starts attempts for them. Without records the
    /// waiter is answered at once.
    pub(super) fn append(&mut self, records: Vec<NewRecord>, urgent: bool, waiter: Waiter<H>) {
        if records.is_empty() {
            // Work on files has no record of being interrupted: it begins again.
            if !matches!(waiter, Waiter::Deletion(_)) {
                self.restart_work_on_files();
            }
            self.set_alarm();
            return self.complete(waiter);
        }
        let appending = Appending {
            id: self.last_append,
            records,
            urgent,
            waiter,
            after_commit: Vec::new(),
            joined: Vec::new(),
            joining: None,
            was_withdrawn: false,
        };
        self.submit_after_kill(Box::new(appending));
    }

    pub(super) fn submit(&mut self, mut appending: Box<Appending<H>>) {
        if !matches!(appending.waiter, Waiter::Deletion(_)) {
            appending.after_commit = self.start_attempts(&appending.records);
        }
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

    /// Starts the attempts that are missing, behind the closed gate. Returns the attempts to start after the
    /// commit: those of a root task that begins in this append. The store may still refuse it (a message sent
    /// twice), and then no request may have been sent.
    fn start_attempts(&mut self, records: &[NewRecord]) -> Vec<Effect> {
        if self.duty == Duty::RecordOnly {
            return Vec::new();
        }
        let is_new = |task| {
            let begins = |r: &NewRecord| {
                matches!(&r.body, RecordBody::TaskStarted(head) if head.parent_id.is_none())
                    && r.task_id == Some(task)
            };
            records.iter().any(begins)
        };
        let begins_work_on_files = self.duty <= Duty::Hold;
        let is_missing = |effect: &Effect| {
            (begins_work_on_files || effect.ends_with_its_task()) && !self.running.contains(effect)
        };
        let missing = effects(&self.history).into_iter().filter(is_missing);
        let (after_commit, now): (Vec<_>, Vec<_>) = missing.partition(|effect| is_new(effect.task()));
        for effect in now {
            self.start(effect, Gate::Closed);
        }
        after_commit
    }

    /// Starts missing work on files, while nothing is appended.
    fn restart_work_on_files(&mut self) {
        let is_missing = |effect: &Effect| !effect.ends_with_its_task() && !self.running.contains(effect);
        let missing = effects(&self.history).into_iter().find(is_missing);
        if let Some(effect) = missing.filter(|_| self.duty <= Duty::Hold) {
            self.start(effect, Gate::Open);
        }
    }

    fn start(&mut self, effect: Effect, gate: Gate) {
        self.running.push(effect);
        self.orders.push_back(Order::Start { effect, gate });
    }

    /// The projections of the tasks that these records change: the records' tasks, their ancestors, and after
    /// a record that may let sub-tasks act also all of these.
    fn projections(&self, records: &[NewRecord]) -> Vec<Projection> {
        let mut changed: BTreeSet<TaskId> = records.iter().filter_map(|record| record.task_id).collect();
        if self.history.tasks().len() > 1 {
            let above = changed.iter().flat_map(|id| self.history.ancestors(*id)).map(|task| task.id);
            let mut with_relatives: Vec<TaskId> = above.collect();
            for holder in records.iter().filter(|record| may_free_sub_tasks(&record.body)) {
                let is_within =
                    |task: &&Task| holder.task_id.is_some_and(|id| self.history.is_within(task.id, id));
                with_relatives.extend(self.history.live().filter(is_within).map(|task| task.id));
            }
            changed.extend(with_relatives);
        }
        let tasks = changed.into_iter().filter_map(|id| self.history.task(id));
        tasks.map(|task| project(self.conversation, &self.history, task)).collect()
    }

    pub(super) fn committed(&mut self, append: AppendId) {
        let Some(appending) = self.take_appending(append) else { return };
        let Appending { records, waiter, after_commit, joined, joining, .. } = *appending;
        records.iter().for_each(|record| self.tail.count(&record.body));
        self.orders.push_back(Order::OpenGate);
        for effect in after_commit {
            self.start(effect, Gate::Open);
        }
        let calls: Vec<CallId> = records.iter().filter_map(finished_call).collect();
        if !calls.is_empty() {
            self.orders.push_back(Order::DropOutput(calls));
        }
        self.keep_snapshot();
        self.set_alarm();
        self.complete(waiter);
        for Joined { command, accepted, reply } in joined {
            let answer = accepted.map(|()| self.applied(command.task())).map_err(Failure::Refused);
            self.reply(reply, answer);
        }
        if let Some(message) = joining {
            self.state = State::Killing(message);
        }
    }

    /// Answers whoever waited for a commit; a deletion goes on to erase.
    fn complete(&mut self, waiter: Waiter<H>) {
        match waiter {
            Waiter::Nobody | Waiter::Recovery => {}
            Waiter::Command { reply, task } => {
                let applied = self.applied(task);
                self.reply(reply, Ok(applied));
            }
            Waiter::Deletion(reply) => self.erase(reply),
        }
    }

    /// Loads the records again, which cancels all attempts. None of this append's records are on disk, unless
    /// an earlier append of them was withdrawn too late.
    pub(super) fn append_failed(&mut self, append: AppendId, error: H::Error, contradicts: bool) {
        let Some(appending) = self.take_appending(append) else { return };
        let Appending { records, waiter, joined, joining, was_withdrawn, .. } = *appending;
        let moved = records.iter().filter_map(|record| match record.body {
            RecordBody::ClockMoved(moved) => Some((record.at, moved)),
            _ => None,
        });
        self.unsure = moved.collect();
        self.orders.push_back(Order::DropGate);
        self.running.clear();
        self.defer_first(joined, joining);
        let mut next = LoadReason::AppendFailed;
        match waiter {
            Waiter::Nobody => {}
            Waiter::Command { reply, .. } => self.reply(reply, Err(Failure::Failed(error))),
            Waiter::Deletion(reply) => {
                let answer = Err(Failure::Failed(error));
                self.orders.push_back(Order::ReplyDeleted { reply, answer });
            }
            // The withdrawn append committed, so its records are on disk.
            Waiter::Recovery if was_withdrawn && contradicts => next = LoadReason::WithdrawnCommitted,
            Waiter::Recovery => return self.unreadable(error),
        }
        self.orders.push_back(Order::Load);
        self.state = State::Loading(next);
    }

    /// Takes the append that is under way, if it has this id. A withdrawn append has an older id, and its
    /// result is ignored.
    fn take_appending(&mut self, append: AppendId) -> Option<Box<Appending<H>>> {
        match mem::replace(&mut self.state, State::Ready) {
            State::Appending(appending) if appending.id == append => Some(appending),
            other => {
                self.state = other;
                None
            }
        }
    }

    /// Withdraws the append and answers everyone who waits for it that the daemon shuts down.
    pub(super) fn abandon(&mut self, appending: Appending<H>) {
        let Appending { id, waiter, joined, .. } = appending;
        self.orders.extend([Order::Withdraw(id), Order::DropGate]);
        match waiter {
            Waiter::Nobody | Waiter::Recovery => {}
            Waiter::Command { reply, .. } => self.reply(reply, Err(Failure::ShuttingDown)),
            Waiter::Deletion(reply) => {
                self.orders.push_back(Order::ReplyDeleted { reply, answer: Err(Failure::ShuttingDown) });
            }
        }
        for Joined { reply, .. } in joined {
            self.reply(reply, Err(Failure::ShuttingDown));
        }
    }
}

/// The call whose result this record holds.
const fn finished_call(record: &NewRecord) -> Option<CallId> {
    match &record.body {
        RecordBody::CallFinished(finished) => Some(finished.call_id),
        _ => None,
    }
}

/// Whether sub-tasks may act after the record that could not before: their task held them, or their calls
/// waited for its checkpoint or for an undo.
const fn may_free_sub_tasks(body: &RecordBody) -> bool {
    changes_hold(body) || matches!(body, RecordBody::Checkpointed(_) | RecordBody::UndoEnded(_))
}
