//! What tasks can do in a folder, before one begins.

use super::bounds::{Bounds, CallContext};
use crate::{
    Checkpoints, SandboxSettings, Tools, named_files::UnusablePath, sandbox::git::Repository,
    workspace::Workspace,
};
use abide_protocol::method::workspace::WorkspaceReply;
use std::{cell::OnceCell, fs::File, io::Read as _, path::Path, sync::Arc};

/// The most bytes of the file that names a work tree's branch.
const MAX_HEAD: u64 = 1024;

impl Tools {
    /// What tasks can do in this folder. `path` is the `PATH` of their commands. Blocking; nothing runs but
    /// git, which looks at the folder.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub fn look_at(
        &self,
        folder: &str,
        settings: &SandboxSettings,
        path: Option<&str>,
    ) -> Result<WorkspaceReply, UnusablePath> {
        let workspace = &Workspace::open(folder, Arc::clone(&self.runner.closed)).map_err(UnusablePath)?;
        let checkpoints: &Checkpoints = self.checkpoints();
        let place = CallContext {
            workspace,
            settings,
            runner: &self.runner,
            checkpoints,
            path,
            repository: OnceCell::new(),
        };
        let git = Repository::of(workspace.real(), &|_| true).filter(|git| !workspace.is_broad_at(&git.top));
        Ok(WorkspaceReply {
            is_work_tree: git.is_some(),
            branch: git.and_then(|git| branch(git.folders.first().unwrap_or(&git.entry))),
            no_undo: place.why_no_undo(),
            edits_ask: place.of_any_edit() != Bounds::Contained,
            commands_ask: place.of_any_command() != Bounds::Contained,
            can_allow: self.runner.sandbox_level().level >= settings.require,
        })
    }
}

/// The branch that a git folder is on. gitrepository-layout(5)
fn branch(folder: &Path) -> Option<String> {
    let mut head = String::new();
    File::open(folder.join("HEAD")).ok()?.take(MAX_HEAD).read_to_string(&mut head).ok()?;
    let branch = head.trim().strip_prefix("ref: refs/heads/")?;
    // A repository with reftables keeps its branch elsewhere, and this name in HEAD. git-init(1),
    // `--ref-format`
    (branch != ".invalid").then(|| branch.to_owned())
}
