//! A conversation's state, folded from its records. The engine has no other state.

use crate::state::{
    files::Files,
    task::{Call, Task},
};
use abide_protocol::{
    ApprovalId, QuestionId, TaskId, Timestamp,
    checkpoint::{Ran, SavedTree, UndoBegun},
    inbox::Decision,
    record::{ClockMoved, ConversationCreated},
    transcript::{Transcript, Usage},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, iter};

/// The newest checkpoint, before the first call after it that may change something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointBefore {
    /// The root task.
    pub root: TaskId,
    pub saved: SavedTree,
    /// When the call started.
    pub started_at: Timestamp,
}

/// The state of one conversation, folded from its records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// `None` before its first record.
    pub conversation: Option<Conversation>,
    /// The newest root task, then all its sub-tasks at any depth, in the order in which they were started:
    /// each after its parent. Earlier roots and their sub-tasks have ended.
    pub(crate) tasks: Vec<Task>,
    /// The transcript of earlier roots, which the next root continues. Used only while `tasks` is empty,
    /// after a snapshot.
    pub(crate) inherited: Transcript,
    /// Consecutive daemon starts that found this tree of tasks at work, without progress since the one
    /// before.
    pub(crate) restarts: u32,
    /// The first response to each question that has one.
    pub(crate) answered: BTreeMap<QuestionId, First<Option<String>>>,
    /// The first decision on each approval that has one.
    pub(crate) decided: BTreeMap<ApprovalId, First<Decision>>,
    /// The checkpoints of the newest root task's files.
    pub(crate) files: Files,
    /// The time of the newest record that is not of a restart: until then a daemon was there.
    pub(crate) newest: Timestamp,
    /// The newest move of the clock since the newest root task began, and its time.
    pub(crate) clock_moved: Option<(Timestamp, ClockMoved)>,
}

/// The first response or decision, which is the one that counts, and when it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct First<T> {
    pub said: T,
    pub at: Timestamp,
}

/// A conversation's title, settings and archive flag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    pub facts: ConversationCreated,
    pub archived: bool,
}

impl History {
    /// The newest root task, ended or not.
    #[must_use]
    pub fn root(&self) -> Option<&Task> {
        self.tasks.first()
    }

    /// The newest root task and all its sub-tasks, ended or not, each after its parent.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    #[must_use]
    pub fn task(&self, id: TaskId) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// Tasks that have not ended, each before its parent.
    pub fn live(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().rev().filter(|task| !task.has_ended())
    }

    /// The task's parent, its parent's parent, and so on up to the root.
    pub fn ancestors(&self, task: TaskId) -> impl Iterator<Item = &Task> {
        let parent = |task: &Task| task.head.parent_id.and_then(|id| self.task(id));
        iter::successors(self.task(task).and_then(parent), move |task| parent(task))
    }

    /// Whether `task` is `ancestor` or one of its sub-tasks at any depth.
    #[must_use]
    pub fn is_within(&self, task: TaskId, ancestor: TaskId) -> bool {
        task == ancestor || self.ancestors(task).any(|above| above.id == ancestor)
    }

    /// The usage of all tasks of the tree together.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let mut all = Usage::default();
        self.tasks.iter().for_each(|task| all.add(&task.usage));
        all
    }

    /// What the next checkpoint begins with, if the root task has one: the newest, and the calls that ran
    /// since.
    #[must_use]
    pub fn newest_checkpoint(&self) -> Option<(SavedTree, Option<Ran>)> {
        self.files.since()
    }

    /// The root task's step of the next checkpoint.
    #[must_use]
    pub fn step_of_checkpoint(&self) -> u32 {
        let now = || self.root().map_or(0, |root| root.step);
        self.files.step().unwrap_or_else(now)
    }

    /// The newest checkpoint, if this call, which has just started, is the first after it that may change
    /// something.
    #[must_use]
    pub fn checkpoint_before(&self, call: &Call) -> Option<CheckpointBefore> {
        let (saved, started_at) = self.files.before(call)?;
        Some(CheckpointBefore { root: self.root()?.id, saved, started_at })
    }

    /// The undo that has begun, if there is one.
    #[must_use]
    pub const fn undo(&self) -> Option<&UndoBegun> {
        self.files.undo()
    }

    /// The first response to a question, if it has one.
    #[must_use]
    pub fn answer(&self, question: QuestionId) -> Option<&First<Option<String>>> {
        self.answered.get(&question)
    }

    /// The first decision on an approval, if it has one.
    #[must_use]
    pub fn decision(&self, approval: ApprovalId) -> Option<First<Decision>> {
        self.decided.get(&approval).copied()
    }
}
