//! Checkpoints: what the files of a work tree were at a moment, so that what a task did can be taken back.

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
    /// The task in this step, or a task beneath it.
    Step(u32),
    /// An undo of the task.
    Undo,
    /// Somebody else, while no call of the task ran.
    Others,
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
    /// Somebody else has changed it after the task, so an undo does not touch it.
    pub kept: bool,
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
}
