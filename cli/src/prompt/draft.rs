//! A line while a person edits it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is typed of a line so far; `None` before the first key. Clones are the same draft.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft(Arc<Mutex<Option<String>>>);

impl Draft {
    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the first key has come.
    pub(crate) fn has_begun(&self) -> bool {
        self.lock().is_some()
    }

    pub(crate) fn text(&self) -> String {
        self.lock().clone().unwrap_or_default()
    }

    pub(crate) fn set_text(&self, text: &str) {
        *self.lock() = Some(text.to_owned());
    }
}
