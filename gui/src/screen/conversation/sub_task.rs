//! The timeline of a sub-task: the same as that of the root tasks, without a composer. What belongs to tasks
//! below it is at its end.

use super::{Conversation, Goal};
use crate::{
    keymap::Command,
    request::Timeline,
    screen::{
        pending,
        tree::{Family, family},
    },
};
use abide_client::protocol::{TaskId, inbox::InboxItem, task::AgentTask};

impl Conversation {
    /// The timeline of a sub-task of this conversation.
    #[must_use]
    pub fn of_sub_task(&self, task: TaskId) -> Self {
        // Until its own fold has begun, what is known of it and of the tasks above it is shown.
        let mut earlier = self.earlier.clone();
        earlier.extend(family::path(&self.view, task).cloned());
        Self { sub_task: Some(task), earlier, ..Self::new(self.id, "") }
    }

    /// Shown again: at the place where it was left, not at its end.
    pub fn come_back(&mut self) {
        if let Some(view) = self.looked.take_if(|view| !view.at_end) {
            self.goal = Some(Goal::Row(view.first));
            self.reframe();
        }
    }

    /// The sub-task whose timeline it is.
    #[must_use]
    pub const fn sub_task(&self) -> Option<TaskId> {
        self.sub_task
    }

    pub(super) const fn timeline_of(&self) -> Timeline {
        Timeline { conversation: self.id, sub_task: self.sub_task }
    }

    /// The newest root with its sub-tasks, if it has some.
    #[must_use]
    pub fn family(&self) -> Option<Family<'_>> {
        Family::of(&self.view)
    }

    /// The task whose timeline this is: the sub-task, or the newest root.
    #[must_use]
    pub fn shown_task(&self) -> Option<&AgentTask> {
        self.current()
    }

    /// The task above the one that is shown.
    #[must_use]
    pub fn above(&self) -> Option<TaskId> {
        self.task(self.sub_task?)?.parent_id
    }

    /// The sub-task that is shown and the tasks above it, the root first.
    pub(super) fn path(&self) -> Vec<&AgentTask> {
        let above = |task: &&AgentTask| task.parent_id.and_then(|parent| self.task(parent));
        let shown = self.sub_task.and_then(|id| self.task(id));
        let mut path: Vec<&AgentTask> = std::iter::successors(shown, above).collect();
        path.reverse();
        path
    }

    /// The open items of this task and of those below it, oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = &InboxItem> {
        let items = self.view.inbox().items().iter();
        items.filter(|item| self.sub_task.is_none_or(|top| self.view.is_within(item.task_id, top)))
    }

    /// The sub-task that asks, if it is not the task of this timeline.
    pub(super) fn asks_elsewhere(&self, item: &InboxItem) -> Option<String> {
        pending::sub_task(item).filter(|_| self.sub_task != Some(item.task_id))
    }

    /// Whether a command has a meaning here: in the timeline of a sub-task no task begins, and nothing is
    /// done to the conversation.
    pub(super) const fn takes(&self, command: Command) -> bool {
        let is_of_conversation = matches!(
            command,
            Command::Again
                | Command::EditAgain
                | Command::Rename
                | Command::Archive
                | Command::Attach
                | Command::Setup
        );
        self.sub_task.is_none() || !is_of_conversation
    }
}
