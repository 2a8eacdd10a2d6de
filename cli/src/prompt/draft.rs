//! A line while a person edits it.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// What is typed of a line so far. Clones are the same draft.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    has_begun: AtomicBool,
    text: Mutex<String>,
}

impl Draft {
    /// Whether the first key has come.
    pub(crate) fn has_begun(&self) -> bool {
        self.0.has_begun.load(Ordering::Relaxed)
    }

    pub(crate) fn begin(&self) {
        self.0.has_begun.store(true, Ordering::Relaxed);
    }

    pub(crate) fn text(&self) -> String {
        self.0.text.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_text(&self, text: &str) {
        text.clone_into(&mut self.0.text.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
