//! The newest text of the configuration that was understood, kept beside the logs. A daemon that finds a
//! broken file at its start goes on with it: a machine that restarts must not leave tasks dead because of a
//! typo.

use abide_host::replace_file;
use std::{fs, path::PathBuf};

#[derive(Debug)]
pub(super) struct LastGood {
    path: PathBuf,
}

impl LastGood {
    pub(super) const fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub(super) fn read(&self) -> Option<String> {
        fs::read_to_string(&self.path).ok()
    }

    /// Keeps the text in force; no file is an empty text. It is only a precaution, so a failure is logged.
    pub(super) fn keep(&self, text: Option<&str>) {
        let text = text.unwrap_or_default();
        if self.read().as_deref() == Some(text) {
            return;
        }
        if let Err(error) = replace_file(&self.path, text, None) {
            tracing::warn!(file = %self.path.display(), "the configuration in force cannot be kept: {error}");
        }
    }
}
