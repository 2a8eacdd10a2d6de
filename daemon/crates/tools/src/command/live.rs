use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

/// The helpers that run now, by process id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Live(Arc<Mutex<HashSet<u32>>>);

impl Live {
    pub(crate) fn contains(&self, pid: u32) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&pid)
    }

    /// Counts a helper as running until the guard is dropped.
    pub(crate) fn enter(&self, pid: u32) -> LiveGuard {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(pid);
        LiveGuard { live: self.clone(), pid }
    }
}

pub(crate) struct LiveGuard {
    live: Live,
    pid: u32,
}

impl Drop for LiveGuard {
    fn drop(&mut self) {
        self.live.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.pid);
    }
}
