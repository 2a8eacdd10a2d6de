//! The files that a task's tools have written.

/// The newest files that are kept.
const MAX_FILES: usize = 200;

/// Paths relative to the workspace, the newest last, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    paths: Vec<String>,
}

impl Manifest {
    pub(crate) fn add(&mut self, path: &str) {
        self.paths.retain(|known| known != path);
        self.paths.push(path.to_owned());
        let older = self.paths.len().saturating_sub(MAX_FILES);
        self.paths.drain(..older);
    }

    #[must_use]
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// All paths on one line; `none` if there are none.
    pub(crate) fn list(&self) -> String {
        if self.paths.is_empty() { "none".to_owned() } else { self.paths.join(", ") }
    }
}
