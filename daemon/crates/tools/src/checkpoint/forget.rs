//! Removes the checkpoints of deleted conversations.

use super::{
    Checkpoints,
    git::{Git, GitDir},
    repository::Owner,
};
use abide_protocol::ConversationId;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
};
use tokio_util::sync::CancellationToken;

/// The folder in one of our git directories that has a file for each conversation with references there.
pub(super) const CONVERSATIONS: &str = "conversations";

/// The file in one of our git directories that names its work tree.
pub(super) const OWNER: &str = "owner.json";

impl Checkpoints {
    /// The conversations that have checkpoints. Blocking.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn conversations(&self) -> io::Result<BTreeSet<ConversationId>> {
        let noted = |folder: &Path| names(&folder.join(CONVERSATIONS)).unwrap_or_default();
        let all = self.work_trees()?;
        Ok(all.iter().flat_map(|folder| noted(folder)).filter_map(|name| name.parse().ok()).collect())
    }

    /// Removes the references of a conversation and the objects that only they keep. A git directory that no
    /// other conversation uses is removed. Blocking.
    pub fn forget(&self, conversation: ConversationId) {
        for folder in self.work_trees().unwrap_or_default() {
            let note = folder.join(CONVERSATIONS).join(conversation.to_string());
            if !note.exists() {
                continue;
            }
            if let Err(words) = self.forget_in(&folder, conversation) {
                tracing::warn!(folder = %folder.display(), "the checkpoints of a conversation stay: {words}");
            }
            let _ = fs::remove_file(note);
            if names(&folder.join(CONVERSATIONS)).is_ok_and(|left| left.is_empty())
                && let Err(error) = fs::remove_dir_all(&folder)
            {
                tracing::warn!(folder = %folder.display(), %error, "cannot remove what was kept of a work tree");
            }
        }
    }

    fn forget_in(&self, folder: &Path, conversation: ConversationId) -> Result<(), String> {
        let owner = owner(folder)?;
        let name = folder.to_str().unwrap_or_default();
        let index = self.work_tree_lock(name);
        let _held = index.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let dir = GitDir::Ours { folder: name, work_tree: &owner.work_tree, index: &format!("{name}/index") };
        self.remove_references(folder, &owner.program, dir, &format!("refs/abide/{conversation}/"))?;
        if names(&folder.join(CONVERSATIONS)).is_ok_and(|left| left.len() > 1) {
            let environment = BTreeMap::new();
            let git = self.git_in(folder, &owner.program, &environment)?;
            git.run(dir, &["prune", "--expire=now"], &[]).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn remove_references(
        &self,
        folder: &Path,
        program: &str,
        dir: GitDir<'_>,
        prefix: &str,
    ) -> Result<(), String> {
        let environment = BTreeMap::new();
        let git = self.git_in(folder, program, &environment)?;
        let words = |error: super::NoCheckpoint| error.to_string();
        let listed =
            git.run(dir, &["for-each-ref", "--format=delete %(refname)", prefix], &[]).map_err(words)?;
        if !listed.is_empty() {
            git.run(dir, &["update-ref", "--no-deref", "--stdin"], &listed).map_err(words)?;
        }
        Ok(())
    }

    /// A git that may write to this folder.
    fn git_in<'a>(
        &'a self,
        folder: &Path,
        program: &str,
        environment: &'a BTreeMap<String, String>,
    ) -> Result<Git<'a>, String> {
        let folder = fs::canonicalize(folder).map_err(|error| error.to_string())?;
        Ok(Git {
            helpers: &self.runner.helpers,
            live: &self.runner.live,
            program: program.to_owned(),
            environment,
            directory: fs::File::open(&folder).map_err(|error| error.to_string())?.into(),
            cancel: CancellationToken::new(),
            directory_path: folder.display().to_string(),
            plan: self.runner.plan_git(&[&folder], None),
        })
    }

    fn work_trees(&self) -> io::Result<Vec<std::path::PathBuf>> {
        match names(&self.folders.kept) {
            Ok(names) => Ok(names.into_iter().map(|name| self.folders.kept.join(name)).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

pub(super) fn owner(folder: &Path) -> Result<Owner, String> {
    let owner = fs::read(folder.join(OWNER)).map_err(|error| error.to_string())?;
    serde_json::from_slice(&owner).map_err(|error| error.to_string())
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}
