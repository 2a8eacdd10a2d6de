//! What is known of the files that the newest root task and its sub-tasks work on: their checkpoints, and the
//! undo of changes.

use crate::state::task::{Call, CallStage};
use abide_protocol::{
    TaskId, Timestamp,
    checkpoint::{CheckpointState, Checkpointed, Ran, SavedTree, UndoBegun, UndoResult, Window},
    inbox::Decision,
    record::{Interruption, Permission, RecordBody},
    transcript::EffectClass,
};

/// What is known of the files of the newest root task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Files {
    pub(crate) first: FirstCheckpoint,
    /// The number of the next checkpoint.
    pub(crate) next: u32,
    /// Calls that may have changed something.
    since: Option<RanSince>,
    /// Such a call has finished since the newest checkpoint was made or tried.
    pub(crate) is_due: bool,
    /// Why the last checkpoint that was tried could not be made.
    pub(crate) failed: Option<String>,
    /// An undo that has begun.
    pub(crate) undo: Option<UndoBegun>,
    /// A person has allowed for the task what could not be undone.
    is_undo_waived: bool,
}

/// The checkpoint before the task's first change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum FirstCheckpoint {
    #[default]
    NotTaken,
    /// The newest checkpoint.
    Taken(SavedTree),
    /// None can be made.
    Impossible,
}

/// What ran since the newest checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RanSince {
    /// The root task's step in which the first call started. The next step may begin before the checkpoint is
    /// made.
    step: u32,
    ran: Ran,
}

/// A record of a task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskRecord<'r> {
    pub(crate) task: TaskId,
    /// The root task's step before it.
    pub(crate) step: u32,
    pub(crate) at: Timestamp,
    pub(crate) body: &'r RecordBody,
}

impl Files {
    /// The undo that has begun.
    pub(crate) const fn undo(&self) -> Option<&UndoBegun> {
        self.undo.as_ref()
    }

    /// Whether a person has allowed for the task what could not be undone.
    pub(crate) const fn is_undo_waived(&self) -> bool {
        self.is_undo_waived
    }

    /// What a checkpoint begins with: the one before, and the calls that may have changed files since.
    #[must_use]
    pub(crate) fn since(&self) -> Option<(SavedTree, Option<Ran>)> {
        match &self.first {
            FirstCheckpoint::Taken(saved) => {
                Some((saved.clone(), self.since.as_ref().map(|since| since.ran.clone())))
            }
            FirstCheckpoint::NotTaken | FirstCheckpoint::Impossible => None,
        }
    }

    /// The root task's step in which the first call started that ran since the newest checkpoint.
    pub(crate) fn step(&self) -> Option<u32> {
        self.since.as_ref().map(|since| since.step)
    }

    /// The checkpoint after which this call, which has just started, is the first that may change something,
    /// and when it started.
    pub(crate) fn before(&self, call: &Call) -> Option<(SavedTree, Timestamp)> {
        let CallStage::Started { at, .. } = call.stage else { return None };
        match &self.first {
            FirstCheckpoint::Taken(saved) if may_change(call) => {
                let first = self.since.as_ref().map(|since| since.ran.window.from);
                (first == Some(at)).then(|| (saved.clone(), at))
            }
            _ => None,
        }
    }

    /// Folds a record of a task. `call`: the call that it is about, before the record.
    pub(crate) fn fold(&mut self, record: TaskRecord<'_>, call: Option<&Call>) {
        let TaskRecord { task, step, at, body } = record;
        match body {
            RecordBody::CallStarted(_) if call.is_some_and(may_change) => {
                let edit = call.and_then(|call| call.assessed.as_ref()?.edit.clone());
                let ran = self.ran(step, at);
                ran.commands |= edit.is_none();
                ran.edits.extend(edit);
            }
            RecordBody::CallFinished(_) if call.is_some_and(runs_and_may_change) => self.has_run(step, at),
            // What ran has ended at some time between.
            RecordBody::Restarted(r) if r.cause == Interruption::DaemonRestarted && self.since.is_some() => {
                self.has_run(step, at);
            }
            RecordBody::Checkpointed(checkpointed) => self.checkpointed(checkpointed),
            RecordBody::ApprovalDecided(decided) if decided.decision == Decision::AllowForTask => {
                self.is_undo_waived = true;
            }
            RecordBody::UndoBegun(begun) => self.undo = Some(begun.clone()),
            RecordBody::UndoEnded(ended) => {
                self.undo = None;
                if let (UndoResult::Done(done), FirstCheckpoint::Taken(saved)) =
                    (&ended.result, &mut self.first)
                    && ended.undone == task
                {
                    saved.clone_from(&done.after);
                }
            }
            _ => {}
        }
    }

    fn ran(&mut self, step: u32, at: Timestamp) -> &mut Ran {
        let window = Window { from: at, until: at };
        let ran = Ran { window, edits: Vec::new(), commands: false };
        &mut self.since.get_or_insert(RanSince { step, ran }).ran
    }

    fn has_run(&mut self, step: u32, at: Timestamp) {
        self.is_due = true;
        let Ran { window, .. } = self.ran(step, at);
        window.until = window.until.max(at);
    }

    fn checkpointed(&mut self, checkpointed: &Checkpointed) {
        self.next = checkpointed.number.saturating_add(1);
        self.is_due = false;
        self.failed = match &checkpointed.state {
            CheckpointState::Impossible(why) => Some(why.clone()),
            CheckpointState::Taken(_) | CheckpointState::Unchanged => None,
        };
        match (&checkpointed.state, &self.first) {
            (CheckpointState::Taken(taken), _) => {
                self.first = FirstCheckpoint::Taken(taken.saved.clone());
                self.since = None;
            }
            (CheckpointState::Unchanged, _) => self.since = None,
            (CheckpointState::Impossible(_), FirstCheckpoint::NotTaken) => {
                self.first = FirstCheckpoint::Impossible;
            }
            // The next one covers this time too.
            (CheckpointState::Impossible(_), _) => {}
        }
    }
}

/// Whether the call may change files.
pub(crate) fn may_change(call: &Call) -> bool {
    matches!(call.effect(), EffectClass::Verifiable | EffectClass::Unsafe)
}

pub(crate) fn runs_and_may_change(call: &Call) -> bool {
    matches!(call.stage, CallStage::Started { .. }) && may_change(call)
}

/// Whether a checkpoint is due before this call, which has not begun.
pub(crate) fn is_about_to_change(call: &Call) -> bool {
    let is_open = matches!(call.stage, CallStage::Queued | CallStage::Approval(_) | CallStage::Allowed);
    let is_denied = |call: &Call| {
        call.assessed.as_ref().is_none_or(|assessed| matches!(assessed.permission, Permission::Denied(_)))
    };
    is_open && may_change(call) && !is_denied(call)
}
