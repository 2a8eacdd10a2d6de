//! Loads the records, and recovers the work that was interrupted.

use super::{Driver, Duty, Host, Message, Order, Predecessor, StartedCall, State, appending::Waiter};
use crate::{
    decide::{
        advance::advance,
        effect::Effect,
        effects::effects,
        input::{Finding, Input},
        shown::Shown,
    },
    mint::Mint,
    state::{
        history::History,
        snapshot::Tail,
        task::{CallStage, Task},
    },
};
use abide_protocol::record::{Interruption, NewRecord};
use std::mem;

/// Why the records are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoadReason {
    /// The actor is new.
    ActorStarted,
    /// An append failed.
    AppendFailed,
    /// The append of a recovery was withdrawn and had committed after all. The next recovery's append is
    /// urgent, so that nothing withdraws it again.
    WithdrawnCommitted,
}

impl LoadReason {
    /// After a failed append it is not a crash: this daemon has cancelled the work itself.
    const fn cause(self) -> Interruption {
        match self {
            Self::ActorStarted => Interruption::DaemonRestarted,
            Self::AppendFailed | Self::WithdrawnCommitted => Interruption::AppendFailed,
        }
    }
}

impl<H: Host> Driver<H> {
    /// Attempts that the loaded records list as running do not run. Calls among them are inspected before the
    /// recovery.
    pub(super) fn loaded(&mut self, history: History, tail: Tail, mint: &mut Mint) {
        let reason = match mem::replace(&mut self.state, State::Ready) {
            State::Loading(reason) => reason,
            // All else is as it was: the records are the same, but for the words that were taken out.
            State::Rereading => {
                self.history = history;
                self.tail = tail;
                return;
            }
            other => {
                self.state = other;
                return;
            }
        };
        self.history = history;
        let unsure = self.unsure.take();
        if let Some((_, moved)) = unsure.filter(|_| self.history.clock_moved != unsure) {
            self.clock = self.clock.since(moved);
        }
        self.tail = tail;
        // Checkpoints and undos begin again, so a late outcome of a cancelled attempt is dropped.
        let counts = |message: &Message<H>| !matches!(message, Message::Outcome { effect, .. } if !effect.ends_with_its_task());
        self.deferred.retain(counts);
        if self.duty > Duty::Hold {
            self.duty = Duty::RecordOnly;
            return;
        }
        self.keep_snapshot();
        let started: Vec<StartedCall> = self.history.live().flat_map(started).collect();
        if started.is_empty() {
            self.recover(reason, Vec::new(), mint);
        } else {
            self.orders.push_back(Order::Inspect(started));
            self.state = State::Inspecting(reason);
        }
    }

    /// Orders a snapshot at the newest root task, if it saves the next load enough records. The history in
    /// memory must be committed.
    pub(super) fn keep_snapshot(&mut self) {
        if self.tail.saved() < self.snapshot_spacing {
            return;
        }
        if let Some(snapshot) = self.history.snapshot() {
            self.tail.cut();
            self.orders.push_back(Order::KeepSnapshot(Box::new(snapshot)));
        }
    }

    pub(super) fn load_failed(&mut self, error: H::Error) {
        if matches!(self.state, State::Loading(_) | State::Rereading) {
            self.unreadable(error);
        }
    }

    pub(super) fn inspected(&mut self, findings: Vec<Finding>, mint: &mut Mint) {
        match mem::replace(&mut self.state, State::Ready) {
            State::Inspecting(reason) => self.recover(reason, findings, mint),
            other => self.state = other,
        }
    }

    /// Folds that the clock has moved: since the daemon began, and before if the daemon began at a time before
    /// the newest record. Returns the record.
    fn clock_moved_before_load(&mut self, mint: &mut Mint) -> Option<NewRecord> {
        let mut moved = mint.clock().since(self.clock);
        let passed = mint.at().0.saturating_sub(self.history.newest.0);
        let passed_before = passed.saturating_sub(moved.set_by_ms).saturating_sub_unsigned(moved.slept_ms);
        if passed_before <= -NOTICEABLE {
            moved.set_by_ms = moved.set_by_ms.saturating_add(passed_before);
        }
        self.clock_moved_by(moved, mint)
    }

    /// Records the interruption, and lets tasks act. A task may also have to act because the last daemon
    /// drained: it recorded inputs and left the tasks' next actions to this one.
    fn recover(&mut self, reason: LoadReason, findings: Vec<Finding>, mint: &mut Mint) {
        let clock = self.clock_moved_before_load(mint);
        // After a failed append, clients have been shown text of replies that do not run any more.
        self.unrecorded = self.unrecorded();
        let was_handed_over = reason == LoadReason::ActorStarted
            && self.predecessor == Predecessor::HandedOver
            && !effects(&self.history).iter().any(Effect::ends_with_its_task);
        let mut records = if was_handed_over {
            Vec::new()
        } else {
            let ran_until = match self.predecessor {
                Predecessor::Ended { ran_until } => ran_until,
                Predecessor::HandedOver => None,
            };
            let input = Input::Interrupted { cause: reason.cause(), findings, ran_until };
            // This input is never refused.
            self.record(input, Shown::new(), mint).unwrap_or_default()
        };
        records.splice(..0, clock);
        if self.duty == Duty::Full {
            records.append(&mut advance(&mut self.history, mint));
        }
        self.append(records, reason == LoadReason::WithdrawnCommitted, Waiter::Recovery);
    }
}

/// How far behind the newest record the clock has to be for having been set back, in ms.
const NOTICEABLE: i64 = 1_000;

fn started(task: &Task) -> impl Iterator<Item = StartedCall> {
    task.calls().iter().filter_map(|call| match call.stage {
        CallStage::Started { attempt, .. } => {
            Some(StartedCall { task: task.id, call: call.block.id, attempt })
        }
        _ => None,
    })
}
