//! Checkpoints: what the files of a work tree were at a moment, so that what a task did can be taken back.

use crate::{
    RecordId, TaskId, Timestamp,
    record::{By, EditHashes},
};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The files of a work tree at a moment, as git keeps them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedTree {
    /// The commit that keeps the tree from being collected, in hex.
    pub commit: String,
    /// The tree, in hex.
    pub tree: String,
}

/// A checkpoint of the files that a task and its sub-tasks work on; of the root task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpointed {
    /// Counts the task's checkpoints from 0: before its first change.
    pub number: u32,
    /// The root task's step in which the first call began that may have changed the files.
    pub step: u32,
    pub state: CheckpointState,
}

/// The files, beside the checkpoint before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum CheckpointState {
    Taken(TakenCheckpoint),
    Unchanged,
    /// No checkpoint can be made, for this reason.
    Impossible(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TakenCheckpoint {
    /// The files with what others have changed since the checkpoint before, and without what the task has;
    /// absent: nobody else has changed any.
    pub others: Option<SavedTree>,
    /// The files with the edits of the task's edit tools, and without what else has changed while its
    /// commands ran: a command has changed that, or somebody else meanwhile. Absent: nothing else has
    /// changed.
    pub edits: Option<SavedTree>,
    /// The files as they were.
    pub saved: SavedTree,
}

/// What an undo takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum UndoFrom {
    /// All that the task has changed.
    Start,
    /// What it has changed in this step and after it.
    Step(u32),
    /// The newest undo, and what came after it.
    LastUndo,
}

/// Written before an undo changes anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoBegun {
    /// Its id.
    pub undo: RecordId,
    /// The root task whose changes are taken back: the newest of the conversation, to which the record
    /// belongs, or an earlier one.
    pub undone: TaskId,
    pub from: UndoFrom,
    /// Also files that have changed while a command ran.
    pub all: bool,
    /// These files only, as [`ChangedFile::path`] names them; empty: all.
    pub files: Vec<String>,
    /// Only this hunk of the one file.
    pub hunk: Option<String>,
    pub by: By,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoEnded {
    pub undo: RecordId,
    pub undone: TaskId,
    pub from: UndoFrom,
    pub result: UndoResult,
    /// For the model, at the tail of the transcript; not shown.
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum UndoResult {
    Done(UndoneFiles),
    /// Why. Perhaps some of the files are restored.
    Failed(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoneFiles {
    /// The files as they were before the undo.
    pub before: SavedTree,
    /// The files after it.
    pub after: SavedTree,
    /// How many files are restored.
    pub restored: u32,
    pub kept: Vec<KeptFile>,
    /// What else the undo has left as it is, in sentences without a full stop.
    pub notes: Vec<String>,
}

/// A time in which a task's calls ran. (Between engine, daemon and tools; never on the wire.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub from: Timestamp,
    pub until: Timestamp,
}

/// The calls that may have changed files since a checkpoint. (Between engine, daemon and tools; never on the
/// wire.)
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// What was changed outside of it was changed by others, as was what another task has edited in it.
    pub window: Window,
    /// What edits among them were to write, in the order in which they started.
    pub edits: Vec<EditHashes>,
    /// Commands were among them. What those have changed is not known.
    pub commands: bool,
}

/// The states of a work tree during a task, in order. (Between tools and daemon; never on the wire.)
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Before the task's first change.
    pub base: SavedTree,
    pub links: Vec<Link>,
}

/// A state of the work tree, and who changed it since the state before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub by: ChangedBy,
    pub to: SavedTree,
}

/// Who changed files between two states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedBy {
    /// An edit tool of the task in this step, or of a task beneath it.
    Step(u32),
    /// A command of the task in this step, or somebody else while the command ran.
    Command(u32),
    /// An undo of the task.
    Undo,
    /// Somebody else, while no call of the task ran.
    Others,
}

impl ChangedBy {
    /// The task's step.
    #[must_use]
    pub const fn step(self) -> Option<u32> {
        match self {
            Self::Step(step) | Self::Command(step) => Some(step),
            Self::Undo | Self::Others => None,
        }
    }
}

impl Chain {
    /// The newest state.
    #[must_use]
    pub fn last(&self) -> &SavedTree {
        self.links.last().map_or(&self.base, |link| &link.to)
    }
}

/// A file that a task has changed, and that is not what it was before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// Relative to the work tree; its control and invisible characters are written as escapes.
    pub path: String,
    pub kind: ChangeKind,
    /// Lines; absent: it is not a text.
    pub added: Option<u64>,
    pub removed: Option<u64>,
    /// An undo does not touch it: somebody else has changed it after the task, or perhaps has, or no
    /// checkpoint has its content.
    pub kept: bool,
    /// It has changed while a command ran, by the command or by somebody else. An undo restores it only with
    /// `all`.
    pub perhaps_yours: bool,
}

/// What a task did to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// A file that an undo has not touched, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptFile {
    /// Relative to the work tree; its control and invisible characters are written as escapes.
    pub path: String,
    pub why: String,
    /// See [`ChangedFile::perhaps_yours`].
    pub perhaps_yours: bool,
}

impl KeptFile {
    /// One that is certainly not only the task's, or cannot be restored.
    #[must_use]
    pub fn because(path: impl Into<String>, why: impl Into<String>) -> Self {
        Self { path: path.into(), why: why.into(), perhaps_yours: false }
    }
}
