//! Checkpoints: one comes before the first change, none is missing among them, and nothing changes during an
//! undo.

use abide_protocol::{
    CallId, RecordId,
    checkpoint::{CheckpointState, Checkpointed, UndoBegun, UndoEnded},
    inbox::Decision,
    record::{NewRecord, Permission, RecordBody},
    task::Approvals,
    transcript::EffectClass,
};
use std::collections::HashMap;

/// State of the newest root task.
#[derive(Default)]
pub(super) struct Files {
    has_checkpoints: bool,
    next: u32,
    undo: Option<RecordId>,
    /// The checkpoint before the first change could not be made.
    is_impossible: bool,
    /// `--yes` answers.
    by_yes: bool,
    /// A person has allowed for the task what could not be undone.
    is_waived: bool,
    calls: HashMap<CallId, Seen>,
}

struct Seen {
    effect: EffectClass,
    /// It may run unasked because what it does can be undone.
    is_contained: bool,
    /// It asks only because what it does could not be undone.
    for_task: bool,
    by_person: bool,
    has_begun: bool,
}

/// Work on files may end after its task.
pub(super) const fn may_follow_an_end(body: &RecordBody) -> bool {
    matches!(body, RecordBody::Checkpointed(_) | RecordBody::UndoBegun(_) | RecordBody::UndoEnded(_))
}

impl Files {
    pub(super) fn record(&mut self, record: &NewRecord) {
        match &record.body {
            RecordBody::TaskStarted(head) if head.parent_id.is_none() => {
                assert_eq!(self.undo, None, "a root task begins during an undo");
                let by_yes = head.approvals != Approvals::Ask;
                *self = Self { has_checkpoints: head.checkpoints, by_yes, ..Self::default() };
            }
            RecordBody::CallAssessed(assessed) => {
                let is_contained = assessed.permission == Permission::Sandbox;
                let for_task = assessed.permission == Permission::Ask && assessed.for_task;
                let effect = assessed.effect;
                let seen = Seen { effect, is_contained, for_task, by_person: false, has_begun: false };
                self.calls.insert(assessed.call_id, seen);
            }
            RecordBody::ApprovalRequested(approval) => {
                let is_contained = self.calls.get(&approval.call_id).is_some_and(|call| call.is_contained);
                assert!(
                    !is_contained || self.is_impossible && !self.by_yes,
                    "a call that can be undone asks: {record:?}"
                );
                assert!(!(approval.for_task && self.is_waived), "it is allowed for the task: {record:?}");
            }
            RecordBody::ApprovalDecided(decided) if decided.decision.allows() => {
                if let Some(call) = self.calls.get_mut(&decided.call_id) {
                    call.by_person = true;
                }
                self.is_waived |= decided.decision == Decision::AllowForTask;
            }
            RecordBody::CallStarted(started) => {
                let call = self.calls.get(&started.call_id);
                let changes = call
                    .is_some_and(|call| matches!(call.effect, EffectClass::Verifiable | EffectClass::Unsafe));
                let is_unasked =
                    call.is_some_and(|call| call.is_contained && !call.by_person && !call.has_begun);
                let asked = call.is_none_or(|call| !call.for_task || call.by_person);
                assert!(asked || self.is_waived, "a call that asks runs unasked: {record:?}");
                assert!(
                    !(changes && is_unasked && self.is_impossible) || self.by_yes || self.is_waived,
                    "a call runs unasked that cannot be undone: {record:?}"
                );
                assert!(
                    !changes || !self.has_checkpoints || self.next > 0,
                    "a call may change files before the first checkpoint: {record:?}"
                );
                assert!(
                    !changes || self.undo.is_none(),
                    "a call may change files during an undo: {record:?}"
                );
                if let Some(call) = self.calls.get_mut(&started.call_id) {
                    call.has_begun = true;
                }
            }
            RecordBody::Checkpointed(Checkpointed { number, state, .. }) => {
                self.is_impossible = matches!(state, CheckpointState::Impossible(_));
                assert!(self.has_checkpoints, "a task without checkpoints has one: {record:?}");
                assert_eq!(*number, self.next, "a checkpoint is missing");
                self.next += 1;
            }
            RecordBody::UndoBegun(UndoBegun { undo, .. }) => {
                assert_eq!(self.undo.replace(*undo), None, "an undo begins during another");
            }
            RecordBody::UndoEnded(UndoEnded { undo, .. }) => {
                assert_eq!(self.undo.take(), Some(*undo), "an undo ends that has not begun");
            }
            _ => {}
        }
    }
}
