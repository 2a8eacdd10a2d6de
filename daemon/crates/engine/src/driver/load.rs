//! From the records to a memory that work goes on from.

use super::{Driver, Duty, Host, Order, StartedCall, State, append::Asked};
use crate::{
    advance::advance,
    history::{History, Tail},
    input::{Finding, Input},
    mint::Mint,
    task::{CallStage, Task},
};
use abide_protocol::record::Interruption;
use std::mem;

/// Why the records are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TakingUp {
    /// The actor is new.
    First,
    /// An append failed.
    Again,
    /// The append of what a reading found was withdrawn and committed after all. The next one is urgent, so that nothing withdraws it.
    Overtaken,
}

impl TakingUp {
    /// A reading after a failed append is no crash: this daemon has cancelled the work itself.
    const fn cause(self) -> Interruption {
        match self {
            Self::First => Interruption::DaemonRestarted,
            Self::Again | Self::Overtaken => Interruption::AppendFailed,
        }
    }
}

impl<H: Host> Driver<H> {
    /// Work that the records say is under way was interrupted: nothing of it runs.
    pub(super) fn loaded(&mut self, history: History, tail: Tail, mint: &mut Mint) {
        let State::Loading(taking) = mem::replace(&mut self.state, State::Ready) else { return };
        self.history = history;
        self.tail = tail;
        if self.duty != Duty::All {
            self.duty = Duty::RecordOnly;
            return;
        }
        self.keep_checkpoint();
        let started: Vec<StartedCall> = self.history.live().flat_map(started).collect();
        if started.is_empty() {
            self.take_up(taking, Vec::new(), mint);
        } else {
            self.orders.push_back(Order::Inspect(started));
            self.state = State::Inspecting(taking);
        }
    }

    /// Orders a checkpoint at the newest root task, if it saves the next reading enough. The state in memory must be committed.
    pub(super) fn keep_checkpoint(&mut self) {
        if self.tail.saved() < self.checkpoint_spacing {
            return;
        }
        if let Some(checkpoint) = self.history.checkpoint() {
            self.tail.cut();
            self.orders.push_back(Order::KeepCheckpoint(Box::new(checkpoint)));
        }
    }

    pub(super) fn load_failed(&mut self, error: H::Error) {
        if matches!(self.state, State::Loading(_)) {
            self.unreadable(error);
        }
    }

    pub(super) fn inspected(&mut self, findings: Vec<Finding>, mint: &mut Mint) {
        match mem::replace(&mut self.state, State::Ready) {
            State::Inspecting(taking) => self.take_up(taking, findings, mint),
            other => self.state = other,
        }
    }

    /// What became of interrupted work, and what follows by itself, also from what was accepted while the last daemon drained.
    fn take_up(&mut self, taking: TakingUp, findings: Vec<Finding>, mint: &mut Mint) {
        let input = Input::Interrupted { cause: taking.cause(), findings };
        // It is never refused.
        let mut records = self.record(input, mint).unwrap_or_default();
        if self.duty == Duty::All {
            records.append(&mut advance(&mut self.history, mint));
        }
        self.append(records, taking == TakingUp::Overtaken, Asked::TakingUp);
    }
}

fn started(task: &Task) -> impl Iterator<Item = StartedCall> {
    task.calls().iter().filter_map(|call| match call.stage {
        CallStage::Started { attempt, .. } => {
            Some(StartedCall { task: task.id, call: call.block.id, attempt })
        }
        _ => None,
    })
}
