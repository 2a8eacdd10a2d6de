//! Git on a person's repository, for worktrees. Git may write to the repository's git folder and to the
//! worktree. No hook and no filter runs: those that the repository configures are overridden by name. So
//! files have the contents of their commit, unfiltered.

use super::NoWorktree;
use crate::{
    checkpoint::git::{Done, Git, GitDir},
    run::CallRunner,
    sandbox::git::Repository,
};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};
use tokio_util::sync::CancellationToken;

/// Settings that name programs which the commands used here would run. (The options of every command override
/// the rest.)
const PROGRAMS: &str = r"^(filter\..*\.(clean|smudge|process|required)|hook\..*)$";

/// What git works on.
pub(super) struct On<'a> {
    pub(super) runner: &'a CallRunner,
    pub(super) program: String,
    pub(super) environment: &'a BTreeMap<String, String>,
    pub(super) cancel: CancellationToken,
    /// The git folder of a work tree.
    pub(super) folder: PathBuf,
    /// The top of the work tree, where commands run.
    pub(super) top: PathBuf,
    /// Folders that may be written.
    pub(super) writable: Vec<PathBuf>,
    /// The person's patterns of ignored files.
    pub(super) excludes: PathBuf,
}

/// Git that is ready.
pub(super) struct Ready<'a> {
    git: Git<'a>,
    folder: String,
    top: String,
    settings: Vec<(String, String)>,
}

impl<'a> On<'a> {
    pub(super) fn ready(self) -> Result<Ready<'a>, NoWorktree> {
        let writable: Vec<&Path> = self.writable.iter().map(PathBuf::as_path).collect();
        let top = text(&self.top)?.to_owned();
        let git = Git {
            helpers: &self.runner.helpers,
            live: &self.runner.live,
            program: self.program,
            environment: self.environment,
            directory: fs::File::open(&self.top).map_err(NoWorktree::io(&self.top))?.into(),
            cancel: self.cancel,
            directory_path: top.clone(),
            plan: self.runner.plan_git(&writable, None),
        };
        let settings = [
            ("core.excludesFile", text(&self.excludes)?),
            ("worktree.useRelativePaths", "false"),
            ("submodule.recurse", "false"),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut ready = Ready { git, folder: text(&self.folder)?.to_owned(), top, settings: settings.into() };
        let named = ready.run(&["config", "--null", "--name-only", "--get-regexp", PROGRAMS])?;
        // Exit code 1: no setting matches.
        if named.code > 1 {
            return Err(ready.failed("config", named).into());
        }
        for name in named.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let name = str::from_utf8(name).map_err(|_| NoWorktree::NotUtf8)?;
            let (of, key) = name.rsplit_once('.').unwrap_or((name, ""));
            let setting = match (name.starts_with("hook."), key) {
                (true, _) => (format!("{of}.enabled"), "false"),
                (false, "required") => (name.to_owned(), "false"),
                (false, _) => (name.to_owned(), ""),
            };
            ready.settings.push((setting.0, setting.1.to_owned()));
        }
        Ok(ready)
    }
}

impl Ready<'_> {
    /// Runs a command to its end, whatever its exit code is.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<Done, NoWorktree> {
        let dir = GitDir::Set { folder: &self.folder, work_tree: &self.top, settings: &self.settings };
        Ok(self.git.start(dir, arguments, &[])?.finish()?)
    }

    /// Runs a command that must succeed. Returns its output.
    pub(super) fn must(&self, arguments: &[&str]) -> Result<Vec<u8>, NoWorktree> {
        let done = self.run(arguments)?;
        if done.code == 0 {
            return Ok(done.stdout);
        }
        let what = arguments.first().copied().unwrap_or_default();
        Err(self.failed(what, done).into())
    }

    /// The commit of a revision, if there is one.
    pub(super) fn commit(&self, revision: &str) -> Result<Option<String>, NoWorktree> {
        let revision = format!("{revision}^{{commit}}");
        let done = self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &revision])?;
        let id = str::from_utf8(&done.stdout).unwrap_or_default().trim();
        Ok((done.code == 0 && !id.is_empty()).then(|| id.to_owned()))
    }

    /// How many of these commits are in no other branch, no tag and no remote.
    pub(super) fn only_on(&self, branch: &str, commits: &[String]) -> Result<u64, NoWorktree> {
        if commits.is_empty() {
            return Ok(0);
        }
        let exclude = format!("--exclude={branch}");
        let mut arguments = vec!["rev-list", "--count"];
        arguments.extend(commits.iter().map(String::as_str));
        arguments.extend(["--not", &exclude, "--branches", "--tags", "--remotes"]);
        let count = self.must(&arguments)?;
        Ok(str::from_utf8(&count).ok().and_then(|count| count.trim().parse().ok()).unwrap_or(u64::MAX))
    }

    fn failed(&self, what: &str, done: Done) -> crate::NoCheckpoint {
        crate::NoCheckpoint::Failed { what: what.to_owned(), words: done.words }
    }
}

/// The person's patterns of ignored files, for a git that does not read their configuration.
pub(super) fn excludes(repository: &Repository, home: &Path) -> PathBuf {
    repository.named(home).excludes.unwrap_or_else(|| home.join(".config/git/ignore"))
}

pub(super) fn text(path: &Path) -> Result<&str, NoWorktree> {
    path.to_str().ok_or(NoWorktree::NotUtf8)
}
