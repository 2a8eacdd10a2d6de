//! Checkpoints: one comes before the first change, none is missing among them, and nothing changes during an undo.

use abide_protocol::{
    CallId, RecordId,
    checkpoint::{Checkpointed, UndoBegun, UndoEnded},
    record::{NewRecord, RecordBody},
    transcript::EffectClass,
};
use std::collections::HashMap;

/// State of the newest root task.
#[derive(Default)]
pub(super) struct Files {
    has_checkpoints: bool,
    next: u32,
    undo: Option<RecordId>,
    effects: HashMap<CallId, EffectClass>,
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
                *self = Self { has_checkpoints: head.checkpoints, ..Self::default() };
            }
            RecordBody::CallAssessed(assessed) => {
                self.effects.insert(assessed.call_id, assessed.effect);
            }
            RecordBody::CallStarted(started) => {
                let changes = matches!(
                    self.effects.get(&started.call_id),
                    Some(EffectClass::Verifiable | EffectClass::Unsafe)
                );
                assert!(
                    !changes || !self.has_checkpoints || self.next > 0,
                    "a call may change files before the first checkpoint: {record:?}"
                );
                assert!(
                    !changes || self.undo.is_none(),
                    "a call may change files during an undo: {record:?}"
                );
            }
            RecordBody::Checkpointed(Checkpointed { number, .. }) => {
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
