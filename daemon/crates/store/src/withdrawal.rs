//! Starts of tasks that nobody wants any more.

use crate::Store;
use abide_protocol::TaskId;
use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct WithdrawnStarts(Arc<Mutex<HashSet<TaskId>>>);

impl WithdrawnStarts {
    fn lock(&self) -> MutexGuard<'_, HashSet<TaskId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has(&self, task: TaskId) -> bool {
        self.lock().contains(&task)
    }
}

/// While this value exists, a root task is not started, unless its start was committed before.
#[derive(Debug)]
#[must_use]
pub struct Withdrawal {
    task: TaskId,
    all: WithdrawnStarts,
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        self.all.lock().remove(&self.task);
    }
}

impl Store {
    /// Refuses the append that starts this root task, even if the append waits already.
    pub fn withdraw_start(&self, task: TaskId) -> Withdrawal {
        self.withdrawn.lock().insert(task);
        Withdrawal { task, all: self.withdrawn.clone() }
    }
}
