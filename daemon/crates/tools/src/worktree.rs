//! Git worktrees for tasks: work trees of the person's repository, each on its own branch.
//!
//! A worktree lies in a folder of Abide, beside a note about it. The note is written first, so that the next
//! start knows what a crash has left. A worktree that was being made is removed (nobody has worked there),
//! and an interrupted removal is completed. A worktree is removed only if nothing is lost: it has no file
//! that git would list as changed or new, and no commit that only its branch has.
//!
//! Everything here is blocking.

mod copy;
mod error;
mod git;
mod note;
mod unmerged;

pub use error::NoWorktree;
pub use note::Worktree;
pub use unmerged::Unmerged;

use crate::{
    checkpoint::{Place, git_for},
    command::find,
    run::CallRunner,
    sandbox::git::{Repository, git_folder},
};
use abide_fail_point::{Point, pass};
use abide_protocol::{ConversationId, TaskId};
use git::{On, Ready, text};
use note::WorktreeState;
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};
use tokio_util::sync::CancellationToken;

/// The beginning of the names of branches that nobody has named.
const BRANCHES: &str = "abide/";

/// A worktree to be made.
#[derive(Debug, Clone)]
pub struct NewWorktree {
    pub conversation: ConversationId,
    /// The sub-task that will work there; `None`: the root tasks of the conversation.
    pub task: Option<TaskId>,
    /// The branch, created unless it exists. `None`: a new branch with a name of ours.
    pub branch: Option<String>,
    /// Untracked files of the person's work tree to copy, relative to its top. Missing files are skipped.
    pub copy: Vec<PathBuf>,
}

/// Makes and removes worktrees. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Worktrees {
    runner: Arc<CallRunner>,
    /// Held while worktrees are removed.
    removing: Arc<Mutex<()>>,
}

impl Worktrees {
    pub(crate) fn new(runner: Arc<CallRunner>) -> Self {
        Self { runner, removing: Arc::default() }
    }

    /// Makes a worktree of the work tree around this place, at the same commit. Returns the worktree, and the
    /// folder in it that corresponds to the place.
    ///
    /// # Errors
    /// No worktree can be made; nothing of it is left.
    pub fn make(&self, place: &Place, new: NewWorktree) -> Result<(Worktree, String), NoWorktree> {
        let given = Path::new(&place.workspace);
        let workspace = self
            .runner
            .workspace(&place.workspace)
            .map_err(|error| NoWorktree::io(given)(io::Error::other(error.to_string())))?;
        let repository = self.runner.planner.repository(&workspace).ok_or_else(|| {
            match Repository::of(workspace.real(), &|_| true) {
                Some(Repository { top, .. }) if workspace.is_broad_at(&top) => NoWorktree::Broad(top),
                _ => NoWorktree::NoRepository(given.to_owned()),
            }
        })?;
        let program = git_for(&workspace, place).ok_or(NoWorktree::NoGit)?;
        let (id, short) = match new.task {
            Some(task) => (task.to_string(), task.short()),
            None => (new.conversation.to_string(), new.conversation.short()),
        };
        fs::create_dir_all(&self.runner.worktrees_dir).map_err(NoWorktree::io(&self.runner.worktrees_dir))?;
        let all = fs::canonicalize(&self.runner.worktrees_dir)
            .map_err(NoWorktree::io(&self.runner.worktrees_dir))?;
        let name = repository.top.file_name().unwrap_or("worktree".as_ref());
        let mut worktree = Worktree {
            conversation: new.conversation,
            task: new.task,
            repository: repository.top.clone(),
            common: repository.folders.last().unwrap_or(&repository.entry).clone(),
            path: all.join(id).join(name),
            is_branch_ours: new.branch.is_none(),
            branch: new.branch.unwrap_or_else(|| format!("{BRANCHES}{short}")),
            copied: Vec::new(),
            state: WorktreeState::Making,
        };
        let made = self.fill(&mut worktree, &repository, place, &program, &new.copy);
        if made.is_err() && worktree.folder().exists() {
            self.finish(&worktree);
        }
        made?;
        let beneath = workspace.real().strip_prefix(&repository.top).unwrap_or(Path::new(""));
        let folder = worktree.path.join(beneath);
        let folder = fs::canonicalize(&folder).ok().filter(|real| *real == folder && real.is_dir());
        let folder = folder.as_ref().unwrap_or(&worktree.path);
        let folder = text(folder)?.to_owned();
        Ok((worktree, folder))
    }

    fn fill(
        &self,
        worktree: &mut Worktree,
        repository: &Repository,
        place: &Place,
        program: &str,
        copy: &[PathBuf],
    ) -> Result<(), NoWorktree> {
        worktree.note(WorktreeState::Making)?;
        pass(Point::WorktreeNoted);
        let on = |folder: &Path, top: &Path| On {
            runner: &self.runner,
            program: program.to_owned(),
            environment: &place.environment,
            cancel: place.cancel.clone(),
            folder: folder.to_owned(),
            top: top.to_owned(),
            writable: vec![worktree.folder().to_owned(), worktree.common.clone()],
            excludes: git::excludes(repository, &self.runner.planner.home),
        };
        let own = repository.folders.first().unwrap_or(&repository.entry);
        let git = on(own, &repository.top).ready()?;
        let base = git.commit("HEAD")?.ok_or_else(|| NoWorktree::NoCommit(repository.top.clone()))?;
        let (branch, path) = (worktree.branch.as_str(), text(&worktree.path)?);
        if git.run(&["check-ref-format", "--branch", branch])?.code != 0 {
            return Err(NoWorktree::BranchName(branch.to_owned()));
        }
        let exists = git.commit(&format!("refs/heads/{branch}"))?.is_some();
        let add = ["worktree", "add", "--quiet", "--no-checkout"];
        let how: &[&str] = if exists { &[path, branch] } else { &["--no-track", "-b", branch, path, &base] };
        git.must(&[&add, how].concat())?;
        let folder = git_folder(&worktree.path.join(".git"))
            .ok_or_else(|| NoWorktree::io(&worktree.path)(io::ErrorKind::InvalidData.into()))?;
        let git = on(&folder, &worktree.path).ready()?;
        git.must(&["reset", "--hard", "--quiet", "--no-recurse-submodules"])?;
        worktree.copied = copy::copy(&repository.top, &worktree.path, copy)?;
        pass(Point::WorktreeMade);
        worktree.note(WorktreeState::Made)
    }

    /// All worktrees.
    #[must_use]
    pub fn list(&self) -> Vec<Worktree> {
        self.noted().into_iter().filter(|worktree| worktree.state == WorktreeState::Made).collect()
    }

    /// The worktrees of a conversation and its sub-tasks.
    #[must_use]
    pub fn of(&self, conversation: ConversationId) -> Vec<Worktree> {
        self.list().into_iter().filter(|worktree| worktree.conversation == conversation).collect()
    }

    /// Whether this path lies in a worktree that Abide has made, where only the tasks of one conversation
    /// work.
    #[must_use]
    pub fn holds(&self, workspace: &str) -> bool {
        self.runner.workspace(workspace).is_ok_and(|workspace| self.runner.is_worktree(&workspace))
    }

    /// The folder in the person's work tree that a workspace in a worktree stands for. `None`: the workspace
    /// is in no worktree.
    #[must_use]
    pub fn origin(&self, workspace: &str) -> Option<String> {
        let all = fs::canonicalize(&self.runner.worktrees_dir).ok()?;
        let id = Path::new(workspace).strip_prefix(&all).ok()?.components().next()?;
        Worktree::read(&all.join(id))?.origin(workspace)
    }

    /// The same folder in each work tree of its repository, the main work tree first. Elsewhere only the folder itself.
    #[must_use]
    pub fn alike(folder: &str) -> Vec<String> {
        let of = |repository: Repository| {
            let beneath = Path::new(folder).strip_prefix(&repository.top).ok()?.to_owned();
            let at = |top: PathBuf| top.components().chain(beneath.components()).collect::<PathBuf>();
            let trees = repository.work_trees().into_iter().map(at);
            Some(trees.filter_map(|path| path.into_os_string().into_string().ok()).collect::<Vec<_>>())
        };
        let mut all = Repository::of(Path::new(folder), &|_| false).and_then(of).unwrap_or_default();
        if !all.iter().any(|path| path == folder) {
            all.push(folder.to_owned());
        }
        all
    }

    /// The top of the git work tree around a folder, if there is one.
    #[must_use]
    pub fn work_tree(folder: &str) -> Option<PathBuf> {
        Repository::of(Path::new(folder), &|_| true).map(|repository| repository.top)
    }

    /// Removes a worktree in which nothing would be lost, and its branch if nobody has named it.
    ///
    /// # Errors
    /// Something would or might be lost. The worktree stays as it is.
    pub fn remove(&self, worktree: &Worktree) -> Result<(), NoWorktree> {
        let _held = self.removing.lock().unwrap_or_else(PoisonError::into_inner);
        let what = self.unmerged(worktree)?;
        if what != Unmerged::default() {
            return Err(NoWorktree::Unmerged { path: worktree.path.clone(), what });
        }
        let mut worktree = worktree.clone();
        worktree.note(WorktreeState::Removing)?;
        self.finish(&worktree);
        Ok(())
    }

    /// Removes what a crash has left of worktrees that were being made or removed. Returns the other
    /// worktrees.
    #[must_use]
    pub fn tidy(&self) -> Vec<Worktree> {
        let (made, left): (Vec<_>, Vec<_>) =
            self.noted().into_iter().partition(|worktree| worktree.state == WorktreeState::Made);
        left.iter().for_each(|worktree| self.finish(worktree));
        made
    }

    fn noted(&self) -> Vec<Worktree> {
        let folders = fs::read_dir(&self.runner.worktrees_dir).into_iter().flatten().flatten();
        let mut all: Vec<Worktree> = folders.filter_map(|entry| Worktree::read(&entry.path())).collect();
        all.sort_by_key(|worktree| (worktree.conversation, worktree.task));
        all
    }

    /// Removes a worktree in which nothing would be lost. If git fails, the folder is removed all the same;
    /// git then lists the worktree as one to prune.
    fn finish(&self, worktree: &Worktree) {
        let environment = BTreeMap::new();
        let removed = self.git(worktree, &environment).and_then(|git| {
            let Some(git) = git else { return Ok(()) };
            // Git fails if it had not begun to make the worktree.
            let _ = git.run(&["worktree", "remove", "--force", "--force", text(&worktree.path)?])?;
            let Some(tip) = git.commit(&tip(worktree))?.filter(|_| worktree.is_branch_ours) else {
                return Ok(());
            };
            if git.only_on(&worktree.branch, std::slice::from_ref(&tip))? == 0 {
                git.must(&["update-ref", "-d", &format!("refs/heads/{}", worktree.branch), &tip])?;
            }
            Ok(())
        });
        if let Err(error) = removed {
            tracing::warn!(repository = %worktree.repository.display(), "a worktree stays registered: {error}");
        }
        if let Err(error) = fs::remove_dir_all(worktree.folder()) {
            tracing::warn!(folder = %worktree.folder().display(), %error, "a worktree cannot be removed");
        }
    }

    /// Git in the repository. `None`: the repository is gone.
    fn git<'a>(
        &'a self,
        worktree: &Worktree,
        environment: &'a BTreeMap<String, String>,
    ) -> Result<Option<Ready<'a>>, NoWorktree> {
        let common = worktree.common.clone();
        if !common.join("HEAD").exists() {
            return Ok(None);
        }
        let repository =
            Repository { top: common.clone(), entry: common.clone(), folders: vec![common.clone()] };
        self.on(worktree, environment, &common, &common, &repository)?.ready().map(Some)
    }

    fn on<'a>(
        &'a self,
        worktree: &Worktree,
        environment: &'a BTreeMap<String, String>,
        folder: &Path,
        top: &Path,
        repository: &Repository,
    ) -> Result<On<'a>, NoWorktree> {
        Ok(On {
            runner: &self.runner,
            program: find("git", None).ok_or(NoWorktree::NoGit)?,
            environment,
            cancel: CancellationToken::new(),
            folder: folder.to_owned(),
            top: top.to_owned(),
            writable: vec![worktree.folder().to_owned(), worktree.common.clone()],
            excludes: git::excludes(repository, &self.runner.planner.home),
        })
    }
}

fn tip(worktree: &Worktree) -> String {
    format!("refs/heads/{}", worktree.branch)
}
