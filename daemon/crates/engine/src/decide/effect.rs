//! An attempt, or work on files, that is under way or should be.

use abide_protocol::{CallId, RecordId, TaskId};

/// An attempt of a model call or a tool call, or work on the files of a root task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    Model {
        task: TaskId,
        item: RecordId,
        attempt: u32,
    },
    Tool {
        task: TaskId,
        call: CallId,
        attempt: u32,
    },
    /// A checkpoint of the root task's files. It may go on after the task's end.
    Checkpoint {
        task: TaskId,
        number: u32,
    },
    /// An undo, in the conversation of this root task.
    Undo {
        task: TaskId,
        undo: RecordId,
    },
}

impl Effect {
    #[must_use]
    pub const fn task(&self) -> TaskId {
        match self {
            Self::Model { task, .. }
            | Self::Tool { task, .. }
            | Self::Checkpoint { task, .. }
            | Self::Undo { task, .. } => *task,
        }
    }

    /// Whether it ends with its task. Work on files does not.
    #[must_use]
    pub const fn ends_with_its_task(&self) -> bool {
        matches!(self, Self::Model { .. } | Self::Tool { .. })
    }
}
