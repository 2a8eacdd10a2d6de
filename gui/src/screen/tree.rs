//! The tree of a conversation's newest root task and its sub-tasks, beside the timeline: what each one does,
//! and which ones wait.
//!
//! It is hidden while the root has no sub-tasks. [`family`] reads the tree from the fold, [`mod@line`] says
//! what a line of it shows, `view` draws the lines near the view only. The window's state is only what is
//! unfolded and scrolled.

pub mod family;
pub mod line;
mod view;

use crate::effect::Effect;
use abide_client::protocol::{ConversationId, Seq, TaskId};
pub use family::Family;
use std::collections::BTreeSet;
pub use view::Shape;

/// The panel's state; its content is that of the fold.
#[derive(Debug, Default)]
pub struct Screen {
    /// The tasks whose ended sub-tasks are shown.
    unfolded: BTreeSet<TaskId>,
    /// How far it is scrolled, in logical pixels.
    at: f32,
    /// A message that was searched for, while it is not known whether it is a sub-task's.
    pub sought: Option<Sought>,
}

/// A message that was searched for.
#[derive(Debug)]
pub struct Sought {
    pub conversation: ConversationId,
    pub task: Option<TaskId>,
    pub seq: Seq,
    pub query: String,
}

#[derive(Debug, Clone)]
pub enum Message {
    /// Opens the timeline of this task.
    Opened(TaskId),
    /// Shows or hides the ended sub-tasks of this one.
    FoldPressed(TaskId),
    Scrolled(f32),
    HidePressed,
}

impl Screen {
    /// The task that is shown so many lines after this one, or before it if negative.
    #[must_use]
    pub fn step(&self, family: &Family<'_>, from: TaskId, by: isize) -> Option<TaskId> {
        family.step(from, by, &self.unfolded)
    }

    pub fn update(&mut self, message: &Message) -> Vec<Effect> {
        match *message {
            Message::Opened(id) => return vec![Effect::OpenTask(id)],
            Message::HidePressed => return vec![Effect::ToggleTree],
            Message::FoldPressed(id) => {
                if !self.unfolded.remove(&id) {
                    self.unfolded.insert(id);
                }
            }
            Message::Scrolled(at) => self.at = at,
        }
        Vec::new()
    }
}
