//! A root task with its sub-tasks, as the fold knows them, and the order in which they are shown.

use abide_client::{
    protocol::{TaskId, task::AgentTask},
    view::ConversationView,
};
use std::collections::{BTreeSet, HashMap, HashSet};

/// A conversation's newest root task and its sub-tasks.
#[derive(Debug)]
pub struct Family<'a> {
    view: &'a ConversationView,
    pub root: &'a AgentTask,
    /// Live ones first, then in the order in which they began.
    children: HashMap<TaskId, Vec<&'a AgentTask>>,
    /// The tasks that wait for a person, and all above them.
    amber: HashSet<TaskId>,
}

/// A line of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Row {
    Task(TaskId),
    /// In place of the ended sub-tasks of this one, or above them.
    Ended(TaskId),
}

/// A line and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLine {
    pub row: Row,
    /// Tasks above it.
    pub depth: usize,
}

/// How many of them there are, at any depth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    pub live: usize,
    pub ended: usize,
    /// Those of the live ones that wait for a person.
    pub waiting: usize,
}

impl<'a> Family<'a> {
    /// `None`: the newest root has no sub-tasks.
    #[must_use]
    pub fn of(view: &'a ConversationView) -> Option<Self> {
        let root = view.tasks().rev().find(|task| task.parent_id.is_none())?;
        let mut children: HashMap<TaskId, Vec<&AgentTask>> = HashMap::new();
        for task in view.tasks() {
            if let Some(parent) = task.parent_id {
                children.entry(parent).or_default().push(task);
            }
        }
        children.get(&root.id)?;
        for siblings in children.values_mut() {
            siblings.sort_by_key(|task| (task.status.has_ended(), task.started_at, task.id));
        }
        let asking = view.inbox().items().iter().map(|item| item.task_id);
        let asking = asking.chain(view.tasks().filter(|task| task.needs_person()).map(|task| task.id));
        let amber = asking.flat_map(|id| path(view, id)).map(|task| task.id).collect();
        Some(Self { view, root, children, amber })
    }

    #[must_use]
    pub fn task(&self, id: TaskId) -> Option<&'a AgentTask> {
        self.view.task(id)
    }

    /// Whether this task or one below it waits for a person.
    #[must_use]
    pub fn is_amber(&self, id: TaskId) -> bool {
        self.amber.contains(&id)
    }

    fn children(&self, id: TaskId) -> &[&'a AgentTask] {
        self.children.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The ended sub-tasks right below this one.
    pub fn ended(&self, id: TaskId) -> impl Iterator<Item = &'a AgentTask> {
        self.children(id).iter().copied().filter(|task| task.status.has_ended())
    }

    /// The sub-tasks of the root.
    #[must_use]
    pub fn count(&self) -> Count {
        let mut count = Count::default();
        let mut below: Vec<TaskId> = vec![self.root.id];
        while let Some(id) = below.pop() {
            for task in self.children(id) {
                below.push(task.id);
                match task.status.has_ended() {
                    true => count.ended += 1,
                    false => count.live += 1,
                }
            }
        }
        let waits = |id: &&TaskId| {
            let is_below = **id != self.root.id && self.view.is_within(**id, self.root.id);
            is_below && self.view.task(**id).is_some_and(AgentTask::needs_person)
        };
        count.waiting = self.amber.iter().filter(waits).count();
        count
    }

    /// The lines, each task above its sub-tasks. Ended ones are folded, unless their parent is among
    /// `unfolded` or `open` is one of them or beneath one.
    #[must_use]
    pub fn lines(&self, unfolded: &BTreeSet<TaskId>, open: TaskId) -> Vec<TreeLine> {
        let path: HashSet<TaskId> = path(self.view, open).map(|task| task.id).collect();
        let mut lines = Vec::new();
        let mut next = vec![TreeLine { row: Row::Task(self.root.id), depth: 0 }];
        while let Some(line) = next.pop() {
            lines.push(line);
            let at = next.len();
            let mut below = |row| next.push(TreeLine { row, depth: line.depth + 1 });
            match line.row {
                Row::Task(id) => {
                    let live = self.children(id).iter().filter(|task| !task.status.has_ended());
                    live.for_each(|task| below(Row::Task(task.id)));
                    if self.ended(id).next().is_some() {
                        below(Row::Ended(id));
                    }
                }
                Row::Ended(id) if self.shows_ended(id, unfolded, &path) => {
                    // As deep as the line that folds them.
                    self.ended(id).for_each(|task| {
                        next.push(TreeLine { row: Row::Task(task.id), depth: line.depth });
                    });
                }
                Row::Ended(_) => {}
            }
            next[at..].reverse();
        }
        lines
    }

    fn shows_ended(&self, id: TaskId, unfolded: &BTreeSet<TaskId>, path: &HashSet<TaskId>) -> bool {
        unfolded.contains(&id) || self.ended(id).any(|task| path.contains(&task.id))
    }

    /// The task that is shown so many tasks after this one, or before it if negative.
    #[must_use]
    pub fn step(&self, from: TaskId, by: isize, unfolded: &BTreeSet<TaskId>) -> Option<TaskId> {
        let lines = self.lines(unfolded, from).into_iter();
        let shown: Vec<TaskId> =
            lines.filter_map(|line| if let Row::Task(id) = line.row { Some(id) } else { None }).collect();
        let at = shown.iter().position(|id| *id == from)?;
        shown.get(at.checked_add_signed(by)?).copied()
    }
}

/// A task and the tasks above it, the root last.
pub fn path(view: &ConversationView, id: TaskId) -> impl Iterator<Item = &AgentTask> {
    let above = |task: &&AgentTask| task.parent_id.and_then(|parent| view.task(parent));
    std::iter::successors(view.task(id), above)
}
