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

/// In a folder of ours: a file for each conversation that has references there.
pub(super) const CONVERSATIONS: &str = "conversations";

/// In a folder of ours: whose it is.
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

    /// Removes the references of a conversation; git collects their objects some time later. What was kept of a work tree that no
    /// other conversation has is removed. Blocking.
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
        let owner = fs::read(folder.join(OWNER)).map_err(|error| error.to_string())?;
        let owner: Owner = serde_json::from_slice(&owner).map_err(|error| error.to_string())?;
        let name = folder.to_str().unwrap_or_default();
        let index = self.work_tree_lock(name);
        let _held = index.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let environment = BTreeMap::new();
        let folder = fs::canonicalize(folder).map_err(|error| error.to_string())?;
        let writable = [name].into_iter().chain(owner.theirs.as_deref()).map(Into::into).collect();
        let git = Git {
            helpers: &self.runner.helpers,
            live: &self.runner.live,
            placeholders: &self.runner.planner.placeholders,
            program: owner.program,
            environment: &environment,
            directory: fs::File::open(&folder).map_err(|error| error.to_string())?.into(),
            cancel: CancellationToken::new(),
            directory_path: folder.display().to_string(),
            plan: self.runner.plan_git(writable),
        };
        let objects = format!("{name}/objects");
        let dir = match &owner.theirs {
            // The repository is gone, and its references with it.
            Some(theirs) if !Path::new(theirs).exists() => return Ok(()),
            Some(theirs) => GitDir::Theirs(theirs),
            None => GitDir::Ours { folder: name, work_tree: &owner.work_tree, objects: &objects, index: "" },
        };
        let prefix = format!("refs/abide/{conversation}/");
        let listed = git.run(dir, &["for-each-ref", "--format=delete %(refname)", &prefix], &[]);
        let listed = listed.map_err(|error| error.to_string())?;
        if !listed.is_empty() {
            git.run(dir, &["update-ref", "--no-deref", "--stdin"], &listed)
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn work_trees(&self) -> io::Result<Vec<std::path::PathBuf>> {
        match names(&self.folders.kept) {
            Ok(names) => Ok(names.into_iter().map(|name| self.folders.kept.join(name)).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}
