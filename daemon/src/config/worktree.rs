//! `[worktree]`: what a new git worktree of a task gets.

use super::Problem;
use serde::Deserialize;
use std::path::{Component, PathBuf};

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorktreeConfig {
    /// A command that runs there before the first step.
    pub setup: Option<String>,
    /// Files that git does not track, copied from the work tree of the user, relative to its top.
    pub copy: Vec<PathBuf>,
}

impl WorktreeConfig {
    pub(super) fn check(&self) -> Result<(), Problem> {
        let is_beneath = |path: &PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
        if let Some(path) = self.copy.iter().find(|path| !is_beneath(path) || path.as_os_str().is_empty()) {
            let problem = format!("{path:?} is not the path of a file beneath the work tree");
            return Err(Problem::new(
                "worktree.copy",
                problem,
                "name files as \".env\" or \"config/local.toml\"",
            ));
        }
        if self.setup.as_ref().is_some_and(|setup| setup.trim().is_empty()) {
            return Err(Problem::new("worktree.setup", "is empty", "give a command, or remove it"));
        }
        Ok(())
    }
}
